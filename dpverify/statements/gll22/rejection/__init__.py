"""gll22, Section 5: the rejection step of the sampler, its law and its error."""
