"""Numbers for Prometheus. Counts only: no names, no addresses."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

registry = CollectorRegistry()
heartbeats = Counter("agora_heartbeats", "Heartbeats committed by this process.", registry=registry)
heartbeat_seconds = Histogram(
    "agora_heartbeat_seconds",
    "From submitting a heartbeat to its commit.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15),
    registry=registry,
)
agents = Gauge("agora_agents", "Listed agents by presence word.", ["presence"], registry=registry)
anomalies = Gauge("agora_open_anomalies", "Open anomalies by kind.", ["kind"], registry=registry)
sweep_age = Gauge("agora_sweep_age_seconds", "Seconds since each sweep last began.", ["sweep"], registry=registry)
pages = Gauge("agora_open_pages", "Open websockets of this process.", registry=registry)
pushes = Counter("agora_pushes", "Messages written to open pages by this process.", registry=registry)
unhinted = Counter(
    "agora_unhinted_changes", "Newer versions that a look found without any hint: it was lost.", registry=registry
)


def exposition() -> bytes:
    return generate_latest(registry)
