"""What English sentences state: `propose.propose`; the other modules hold the forms, and words, that it knows."""
