"""`similarity`: how `min_sequence_similarity` measures, `lcs` or `edit`."""
