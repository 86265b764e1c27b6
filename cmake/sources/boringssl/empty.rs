// Empty on purpose: cargo wants a target before it resolves dependencies.
