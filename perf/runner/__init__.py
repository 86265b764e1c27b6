"""The runner's parts: processes, servers, scenarios, and what is made of the figures."""
