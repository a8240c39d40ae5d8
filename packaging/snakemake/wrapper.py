"""Snakemake wrapper for ``bayesieve screen``."""

import shlex

from snakemake.shell import shell

job = snakemake  # noqa: F821 - Snakemake puts it there
column = job.params["labels"]
sheet = job.input.get("samples")
command = ["bayesieve", "screen", str(job.input["table"])]
command += ["--labels", f"{sheet}:{column}" if sheet else column]
command += ["--threads", str(job.threads), "--out", str(job.output["ranked"])]
for option in ("report", "manifest"):
    if job.output.get(option):
        command += [f"--{option}", str(job.output[option])]
log = job.log_fmt_shell(stdout=True, stderr=True)
shell(f"{shlex.join(command)} {job.params.get('extra', '')} {log}")
