package io.softdpu.core;

import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/** Machines and what a test opens on them, over one fabric folder, closed in reverse order. */
public final class Machines implements AutoCloseable {
    private final Path folder;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** All machines of one test meet in this folder, which is made below the given one. */
    public Machines(Path parent) {
        this.folder = parent.resolve("fabric");
    }

    public Path folder() {
        return folder;
    }

    public Machine open(Side side) {
        return add(Machine.builder(side).fabricFolder(folder).open());
    }

    /** A device of a machine of its own. */
    public Device device(Side side, String id) {
        return device(open(side), id);
    }

    public Device device(Machine machine, String id) {
        return add(machine.findDevice(id).open());
    }

    /** To be closed with the rest, before what was opened earlier. */
    public <T extends AutoCloseable> T add(T closeable) {
        opened.push(closeable);
        return closeable;
    }

    @Override
    public void close() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }
}
