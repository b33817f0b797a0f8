package io.softdpu.cli;

import io.softdpu.perf.rdma.RdmaMode;

/** Parses a kind of measurement of RDMA. */
final class RdmaModeConverter extends WordConverter<RdmaMode> {
    /** For picocli. */
    public RdmaModeConverter() {
        super(RdmaMode.class, RdmaMode::word, "no such measurement", "measurement");
    }
}
