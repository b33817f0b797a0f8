package io.softdpu.api;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.stream.Stream;

/**
 * A card with its host and a storage target, all three machines in this JVM over one fabric folder.
 * They exist as long as the tests: operations of a scope on its own objects must not affect them.
 */
final class Environment implements AutoCloseable {
    final Path folder;
    final Machine host;
    final Machine dpu;
    final Machine target;
    final Device pf0;
    final Device pf1;
    final Device p0;
    final Device t0;
    final Representor hpf0;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private int names;

    Environment(Path folder) {
        this.folder = folder;
        host = keep(machine(Side.HOST));
        dpu = keep(machine(Side.DPU));
        target = keep(machine(Side.TARGET));
        pf0 = keep(host.findDevice("pf0").open());
        pf1 = keep(host.findDevice("pf1").open());
        p0 = keep(dpu.findDevice("p0").open());
        t0 = keep(target.findDevice("t0").open());
        hpf0 = keep(p0.findRepresentor("hpf0").open());
    }

    /** One machine more in the same folder. */
    Machine machine(Side side) {
        return Machine.builder(side).fabricFolder(folder.resolve("fabric")).open();
    }

    /** A name that no other server has. */
    String freshName() {
        return "misuse " + names++;
    }

    private <T extends AutoCloseable> T keep(T resource) {
        open.push(resource);
        return resource;
    }

    @Override
    public void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
        removeDefaultFolder();
    }

    /** Files of Machine.open(Side) in the folder that the build names in the environment. */
    private static void removeDefaultFolder() throws IOException {
        String named = System.getenv("SOFTDPU_FABRIC");
        if (named == null
                || !Path.of(named).startsWith(Path.of("target").toAbsolutePath()) // no user's own
                || !Files.isDirectory(Path.of(named))) {
            return;
        }
        try (Stream<Path> tree = Files.walk(Path.of(named))) {
            for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
