"""Mail, prompts and exchanges live here. Their place is kept; nothing of them is built yet."""
