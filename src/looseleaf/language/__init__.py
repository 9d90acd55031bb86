"""Words, sentences, dates and relations of ten languages. Pure."""
