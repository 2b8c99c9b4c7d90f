from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inbox", "0001_initial"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="delivery",
            name="delivery_untold",
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("dead_at__isnull", False), ("told", False)), fields=["id"], name="delivery_untold"
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(
                    models.Q(("state", "acked"), _negated=True), models.Q(("state", "archived"), _negated=True)
                ),
                fields=["state", "message"],
                name="delivery_undone",
            ),
        ),
    ]
