"""Nobody is deleted (design rule 14)."""

from django.db import models


class NothingIsDeleted(TypeError):
    """Code tried to delete a row that the hub keeps for good."""


class KeptQuerySet(models.QuerySet):
    def delete(self):
        raise NothingIsDeleted(f"{self.model.__name__} rows are kept for good.")


class KeptModel(models.Model):
    """A row that can be neither deleted one by one nor in bulk."""

    objects = KeptQuerySet.as_manager()

    class Meta:
        abstract = True

    def delete(self, *args, **kwargs):
        raise NothingIsDeleted(f"{type(self).__name__} rows are kept for good.")
