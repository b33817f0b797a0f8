package io.softdpu.perf.rdma;

/**
 * Figures of a run of an RDMA measurement that other runs do not have.
 *
 * @param provider that served the connection
 */
public record RdmaFigures(String provider) {}
