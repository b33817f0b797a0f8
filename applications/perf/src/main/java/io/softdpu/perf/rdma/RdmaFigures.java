package io.softdpu.perf.rdma;

/**
 * What only a run of an RDMA measurement has.
 *
 * @param provider that served the connection
 */
public record RdmaFigures(String provider) {}
