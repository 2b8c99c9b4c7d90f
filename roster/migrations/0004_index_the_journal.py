from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("roster", "0003_hours_and_spans"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["at", "id"], name="roster_even_at_1ce321_idx"),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                condition=models.Q(
                    models.Q(("kind", "presence"), _negated=True), models.Q(("kind", "activity"), _negated=True)
                ),
                fields=["-id"],
                name="roster_event_acts",
            ),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                condition=models.Q(
                    models.Q(("kind", "presence"), _negated=True), models.Q(("kind", "activity"), _negated=True)
                ),
                fields=["by", "-id"],
                name="roster_event_acts_by",
            ),
        ),
    ]
