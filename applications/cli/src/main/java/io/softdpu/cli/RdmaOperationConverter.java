package io.softdpu.cli;

import io.softdpu.perf.rdma.RdmaOperation;

/** Parses an operation of RDMA. */
final class RdmaOperationConverter extends WordConverter<RdmaOperation> {
    /** For picocli. */
    public RdmaOperationConverter() {
        super(RdmaOperation.class, RdmaOperation::word, "no such operation", "op");
    }
}
