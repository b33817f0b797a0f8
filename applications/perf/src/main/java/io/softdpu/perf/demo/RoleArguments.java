package io.softdpu.perf.demo;

import io.softdpu.core.process.SharedFolder;
import io.softdpu.perf.child.PhaseSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The arguments of the three processes: options for users, and hidden ones for parents. */
final class RoleArguments {
    private final DemoOptions options;
    private final List<String> cpus;
    private final SharedFolder folder;

    RoleArguments(DemoOptions options, List<String> cpus, SharedFolder folder) {
        this.options = options;
        this.cpus = cpus;
        this.folder = folder;
    }

    List<String> target() {
        @Nullable Path file = options.volumeFile();
        return common(
                DemoRole.TARGET,
                "--device",
                options.devices().target().interfaceName(),
                "--listen-port",
                "0",
                "--volume",
                file == null ? "memory:" + options.sizeBytes() : file.toAbsolutePath().toString(),
                "--block-size",
                Integer.toString(options.blockSizeBytes()),
                "--control-timeout",
                Long.toString(options.controlTimeoutSeconds()));
    }

    List<String> service(int storagePort) {
        return common(
                DemoRole.ZERO_COPY,
                "--device",
                options.devices().port().pciAddress().toString(),
                "--representor",
                options.devices().host().pciAddress().toString(),
                "--storage-server",
                "127.0.0.1:" + storagePort,
                "--control-timeout",
                Long.toString(options.controlTimeoutSeconds()));
    }

    List<String> initiator() {
        List<String> arguments =
                common(
                        DemoRole.INITIATOR,
                        "--device",
                        options.devices().host().pciAddress().toString(),
                        "--control-timeout",
                        Long.toString(options.controlTimeoutSeconds()),
                        "--max-memory", // the volume is as large as the user wants it
                        Long.toString(options.sizeBytes()));
        @Nullable Path file = options.volumeFile();
        if (file != null) {
            arguments.add("--storage-plain-content");
            arguments.add(file.toAbsolutePath().toString());
        }
        for (PhaseSpec phase : DemoPhase.plan(options)) {
            arguments.add("--phase");
            arguments.add(phase.toString());
        }
        return arguments;
    }

    /** The fabric folder of a process. */
    static Path fabric(DemoOptions options, SharedFolder folder, DemoRole role) {
        return options.separateFolders() && role == DemoRole.TARGET
                ? folder.fabric(role.id())
                : folder.fabric();
    }

    /** The report that a process leaves at its end. */
    static Path report(SharedFolder folder, DemoRole role) {
        return folder.root().resolve(role.id() + ".json");
    }

    private List<String> common(DemoRole role, String... own) {
        List<String> arguments = new ArrayList<>(List.of("storage", role.id()));
        arguments.addAll(List.of(own));
        arguments.addAll(options.roleArguments());
        if (role != DemoRole.INITIATOR) { // which has no RDMA instance
            boolean captures = role == DemoRole.ZERO_COPY; // both directions
            arguments.addAll(options.provider().arguments(captures));
        }
        arguments.addAll(
                List.of(
                        "--cpu",
                        cpus.get(role.index()),
                        "--exit-with-parent",
                        "--parent-folder",
                        folder.root().toString(),
                        "--report",
                        report(folder, role).toString()));
        return arguments;
    }
}
