"""What each language other than English knows of statements: one module with a `propose` each."""
