"""What the site holds beside its pages, for programs: one module a kind."""
