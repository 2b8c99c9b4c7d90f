"""What every test of the roster's room starts from."""

import hypothesis


def pytest_configure(config):
    """Generated tests take a few dozen examples, and the promise's full count with --soak."""
    checks = [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture]
    count = 5_000 if config.getoption("--soak") else 60
    hypothesis.settings.register_profile(
        "agora", max_examples=count, deadline=None, database=None, derandomize=True, suppress_health_check=checks
    )
    hypothesis.settings.load_profile("agora")
