package io.softdpu.cli.card;

import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.rdma.Rdma;
import picocli.CommandLine.Option;

/** The option {@code --provider} of the commands that use RDMA. */
public final class ProviderOption {
    @Option(
            names = "--provider",
            paramLabel = "auto|NAME",
            defaultValue = Rdma.ANY_PROVIDER,
            description = {
                "The RDMA provider, shm for example (default: ${DEFAULT-VALUE}, the one that"
                        + " SOFTDPU_RDMA_PROVIDER names, else the one that the first connection"
                        + " selects)."
            })
    private String name = Rdma.ANY_PROVIDER;

    /** For picocli. */
    public ProviderOption() {}

    /** The provider that the user has chosen. */
    public ProviderChoice choice() {
        return new ProviderChoice(name);
    }
}
