"""Everything with weights or a network behind it, one provider a file, a protocol a kind."""
