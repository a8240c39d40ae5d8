# Moderated t-tests of the tables of this folder. Run here: Rscript run_limma.R
library(limma)
for (file in Sys.glob("*.csv")) {
  name <- sub("\\.csv$", "", file)
  if (grepl("\\.limma$", name)) next
  table <- read.csv(file, header = FALSE)
  class <- unlist(table[1, ])
  fit <- lmFit(as.matrix(table[-1, ]), cbind(mean = 1, difference = class))
  fit <- eBayes(fit, trend = grepl("^trend", name))
  t <- fit$t[, "difference"]
  out <- data.frame(
    t = t, log_p = log(2) + pt(-abs(t), fit$df.total, log.p = TRUE), p = fit$p.value[, "difference"],
    s2_prior = fit$s2.prior, df_prior = fit$df.prior, df_total = fit$df.total
  )
  out[] <- lapply(out, function(x) sprintf("%.17g", x))
  write.csv(out, paste0(name, ".limma.csv"), row.names = FALSE, quote = FALSE)
}
cat(R.version.string, "limma", as.character(packageVersion("limma")), "\n")
