package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.Regions;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * A context checks its right to memory, and copies, while another thread ends the grant of that
 * memory.
 */
public final class Grants {
    private static final Permissions EXPORTED =
            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE);
    private static final MemorySegment ONE = MemorySegment.ofArray(new long[] {1});

    private Grants() {}

    /**
     * The mmap is stopped and started again for reading only while a context asks for the first
     * time whether it may write: what it remembers is not the right to the second start. It would
     * be if the grant were read after the question, or if both starts had one grant.
     */
    @JCStressTest
    @Outcome(
            id = {
                "SUCCESS, NOT_PERMITTED",
                "BAD_STATE, NOT_PERMITTED",
                "NOT_PERMITTED, NOT_PERMITTED"
            },
            expect = ACCEPTABLE,
            desc = "asked before, between or after, and refused from then on")
    @State
    public static class Restart {
        private final Mmap mmap = mmap(Memories.RESTARTED);
        private final MemoryRight writes =
                new MemoryRight(Machines.PF0, Permissions.LOCAL_READ_WRITE);

        @Actor
        public void restart() {
            mmap.stop();
            mmap.setPermissions(Permissions.LOCAL_READ_ONLY).start();
        }

        @Actor
        public void check(LL_Result r) {
            r.r1 = Refusal.statusOf(writes.check(mmap));
        }

        @Arbiter
        public void look(LL_Result r) {
            r.r2 = Refusal.statusOf(writes.check(mmap));
            mmap.close();
        }
    }

    /**
     * The program stops the mmap and closes its memory while a context copies into it: it cannot
     * close it before the context has released the mmap, and can from then on. A copy into memory
     * that is closed would throw.
     */
    @JCStressTest
    @Outcome(
            id = {"IN_USE, SUCCESS, SUCCESS", "SUCCESS, SUCCESS, SUCCESS"},
            expect = ACCEPTABLE,
            desc = "copied")
    @Outcome(
            id = {"IN_USE, BAD_STATE, SUCCESS", "SUCCESS, BAD_STATE, SUCCESS"},
            expect = ACCEPTABLE,
            desc = "stopped before the copy")
    @State
    public static class MemoryClose {
        private final LocalMemory memory = LocalMemory.allocate(Long.BYTES);
        private final Mmap mmap = mmap(memory);
        private final MemoryRight writes =
                new MemoryRight(Machines.PF0, Permissions.LOCAL_READ_WRITE);
        private final Copier copier = new Copier();

        public MemoryClose() {
            Regions.retain(mmap);
            requireNull(writes.check(mmap)); // the check of the actor compares the grant alone
        }

        @Actor
        public void close(LLL_Result r) {
            mmap.stop();
            r.r1 = statusOf(memory::close);
        }

        @Actor
        public void copy(LLL_Result r) {
            Refusal refusal = writes.check(mmap);
            if (refusal == null) {
                copier.payload(ONE, 0, Regions.memoryOf(mmap), 0, Long.BYTES);
            }
            r.r2 = Refusal.statusOf(refusal);
            Regions.release(mmap);
        }

        @Arbiter
        public void look(LLL_Result r) {
            r.r3 = statusOf(memory::close);
            mmap.close();
        }
    }

    /**
     * The exporter revokes its memory and waits until it can use it again, while an importer copies
     * into it until it is refused: it is refused, and none of its copies arrives after the wait.
     * One would if the exporter did not wait for the release of the import.
     */
    @JCStressTest
    @Outcome(
            id = "RELEASED, SHUTDOWN, 2",
            expect = ACCEPTABLE,
            desc = "all copies are over when the exporter has its memory again")
    @State
    public static class Revocation {
        private final Lease lease = Lease.next();
        private final MemoryRight writes =
                new MemoryRight(Machines.P0, Permissions.LOCAL_READ_WRITE);
        private final Copier copier = new Copier();
        private volatile boolean released;

        public Revocation() {
            requireNull(writes.check(lease.imported));
        }

        @Actor
        public void revoke(LLL_Result r) {
            lease.exporter.stop();
            lease.startAgain();
            r.r1 = released ? "RELEASED" : "HELD";
            lease.memory.segment().set(ValueLayout.JAVA_LONG, 0, 2);
        }

        @Actor
        public void copy(LLL_Result r) {
            long begin = System.nanoTime();
            MemorySegment destination = Regions.memoryOf(lease.imported);
            Refusal refusal = writes.check(lease.imported);
            while (refusal == null && System.nanoTime() - begin < Pollers.LOST_NANOS) {
                copier.storeWord(ONE, 0, destination, 0);
                refusal = writes.check(lease.imported);
            }
            r.r2 = Refusal.statusOf(refusal);
            released = true;
            lease.end();
        }

        @Arbiter
        public void look(LLL_Result r) {
            r.r3 = lease.memory.segment().get(ValueLayout.JAVA_LONG, 0);
        }
    }

    private static Mmap mmap(LocalMemory memory) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(Permissions.LOCAL_READ_WRITE)
                .addDevice(Machines.PF0)
                .start();
    }

    private static void requireNull(@Nullable Refusal refusal) {
        if (refusal != null) {
            throw new AssertionError("refused: " + refusal);
        }
    }

    private static Status statusOf(Runnable call) {
        try {
            call.run();
            return Status.SUCCESS;
        } catch (DpuException e) {
            return e.status();
        }
    }

    /** Memory that all states of a test may use. */
    private static final class Memories {
        static final LocalMemory RESTARTED = LocalMemory.allocate(Long.BYTES);
    }

    /**
     * Exported memory and its import by the other side. Used in turn as those of {@link Pollers}
     * are, since it holds descriptors; the import is another each time.
     */
    private static final class Lease {
        private static final Lease[] POOL = new Lease[Pollers.COUNT];
        private static final AtomicLong NEXT = new AtomicLong();

        static {
            for (int i = 0; i < POOL.length; i++) {
                POOL[i] = new Lease();
            }
        }

        final SharedMemory memory = SharedMemory.allocate(Long.BYTES);
        final Mmap exporter =
                Mmap.create()
                        .setMemory(memory)
                        .setPermissions(EXPORTED)
                        .addDevice(Machines.PF0)
                        .start();
        private @Nullable Mmap imported;

        static Lease next() {
            Lease next = POOL[(int) (NEXT.getAndIncrement() % POOL.length)];
            if (next.imported != null && next.imported.state() != Mmap.State.CLOSED) {
                next.end(); // of a state that was made and not used
                next.exporter.stop();
                next.startAgain();
            }
            next.imported =
                    Mmap.createFromExport(
                            next.exporter.exportPci(Machines.PF0),
                            Machines.P0,
                            Mapping.ACCESS,
                            Patience.LIMIT);
            Regions.retain(next.imported);
            return next;
        }

        /** Starts the exporter as soon as that is possible. */
        void startAgain() {
            long begin = System.nanoTime();
            while (statusOf(exporter::start) == Status.IN_USE
                    && System.nanoTime() - begin < Pollers.LOST_NANOS) {
                Thread.yield();
            }
        }

        /** Releases and closes the import. */
        void end() {
            Regions.release(imported);
            imported.close();
        }
    }

    /** A device of each side. */
    private static final class Machines {
        static final Device PF0;
        static final Device P0;

        static {
            try {
                Path folder = Files.createTempDirectory("softdpu-jcstress-");
                PF0 = open(Side.HOST, folder, "pf0");
                P0 = open(Side.DPU, folder, "p0");
                Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
            } catch (IOException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private static Device open(Side side, Path folder, String name) {
            return Machine.builder(side)
                    .fabricFolder(folder.resolve("fabric"))
                    .topology(Topology.builtin())
                    .handshakeTimeout(Patience.LIMIT)
                    .open()
                    .findDevice(name)
                    .open();
        }

        private static void delete(Path folder) {
            try (Stream<Path> files = Files.walk(folder)) {
                List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
                for (Path file : deepestFirst) {
                    Files.delete(file);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
