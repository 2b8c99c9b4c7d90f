"""Mail in the admin: messages, deliveries and exchanges are read, groups are edited, and nothing is deleted.

Lists show the outside of a message. Whether its recipient has read it is nobody else's business: no column and no filter
tells.
"""

from . import exchanges, groups, mail

__all__ = ["exchanges", "groups", "mail"]
