/** The softdpu command. */
module io.softdpu.cli {
    requires com.fasterxml.jackson.databind;
    requires info.picocli;
    requires io.softdpu.block;
    requires io.softdpu.core;
    requires io.softdpu.fabric;
    requires io.softdpu.linux;
    requires io.softdpu.perf;
    requires io.softdpu.rdma;
    requires io.softdpu.rdma.roce;
    requires io.softdpu.samples;
    requires io.softdpu.storage;
    requires io.softdpu.topology.json;
    requires static org.jspecify;

    // picocli sets annotated fields and makes commands and converters.
    opens io.softdpu.cli to
            info.picocli;
    opens io.softdpu.cli.card to
            info.picocli;
    opens io.softdpu.cli.options to
            info.picocli;

    provides System.LoggerFinder with
            io.softdpu.cli.log.StderrLoggerFinder;
}
