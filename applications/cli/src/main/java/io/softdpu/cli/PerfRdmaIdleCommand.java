package io.softdpu.cli;

import io.softdpu.cli.card.NetworkOptions;
import io.softdpu.cli.card.ProviderOption;
import io.softdpu.cli.card.TopologyOption;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.rdma.IdleConnections;
import io.softdpu.perf.rdma.IdleConnections.Figures;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Memory of idle RDMA connections, for {@code benchmarks/beside-rdma.sh}: prints a name and a value
 * per line.
 */
@Command(
        name = "rdma-idle",
        hidden = true,
        description = "The memory of idle RDMA connections within one process.")
final class PerfRdmaIdleCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @Mixin private final TopologyOption topology = new TopologyOption();
    @Mixin private final ProviderOption provider = new ProviderOption();
    @Mixin private final NetworkOptions network = new NetworkOptions();

    @Option(names = "--connections", defaultValue = "256", paramLabel = "N")
    private int connections;

    @Option(names = "--fabric", required = true, paramLabel = "FOLDER")
    private @Nullable Path fabric;

    @Override
    public Integer call() {
        ComchPair pair = ComchPair.of(topology.load());
        ProviderChoice chosen = network.with(provider.choice());
        try (NetworkOptions.Use _ = NetworkOptions.use(chosen, true);
                IdleConnections idle =
                        new IdleConnections(
                                pair, Objects.requireNonNull(fabric), chosen, connections)) {
            Figures found = idle.measure(connections);
            var out = Objects.requireNonNull(spec).commandLine().getOut();
            out.println("resident_bytes_per_connection " + Math.round(found.residentBytes()));
            out.println("ring_bytes_per_connection " + found.ringBytes());
        }
        return ExitCode.OK.code();
    }
}
