package io.softdpu.perf.rdma;

import io.softdpu.storage.RdmaCounters;

/**
 * Figures of a run of an RDMA measurement that other runs do not have.
 *
 * @param provider that served the connection
 * @param pathMtuBytes of the connection
 * @param host what it has counted at the host since the connection was made
 * @param dpu the same at the DPU
 */
public record RdmaFigures(String provider, int pathMtuBytes, RdmaCounters host, RdmaCounters dpu) {}
