"""The paper's application (supplement S2): colon cancer, early against late stages, from probes to pathways."""
