process BAYESIEVE_SCREEN {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "bayesieve:@version@"

    input:
    tuple val(meta), path(matrix)
    tuple val(meta2), path(samplesheet)
    tuple val(meta3), path(contrasts)

    output:
    tuple val(meta), path("*.bayesieve.results.tsv"), emit: results
    tuple val(meta), path("*_mqc.json")             , emit: multiqc, optional: true
    path "versions.yml"                             , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    """
    bayesieve screen \\
        '${matrix}' \\
        --labels '${samplesheet}' \\
        --contrasts '${contrasts}' \\
        --threads ${task.cpus} \\
        --out . \\
        ${args}
    """

    stub:
    """
    touch stub.bayesieve.results.tsv

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        bayesieve: \$(bayesieve --version | sed 's/bayesieve //')
    END_VERSIONS
    """
}
