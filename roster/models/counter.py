"""Hub-wide version numbers."""

from django.db import models


class Counter(models.Model):
    """One row a name. A transaction that changes what people see raises ``roster`` and so holds that row's lock until
    it commits: the order of the numbers is the order of the commits, and a cursor can never step over one."""

    name = models.CharField(max_length=16, primary_key=True)
    value = models.PositiveBigIntegerField(default=0)

    def __str__(self):
        return f"{self.name} {self.value}"
