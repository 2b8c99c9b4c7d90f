from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("roster", "0006_employment"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="agent",
            index=models.Index(
                condition=models.Q(("lifecycle", "draining")), fields=["lifecycle_since"], name="agent_draining"
            ),
        ),
        migrations.AddIndex(
            model_name="agent",
            index=models.Index(
                condition=models.Q(("expires_at__isnull", False)), fields=["expires_at"], name="agent_expires"
            ),
        ),
    ]
