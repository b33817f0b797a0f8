package io.softdpu.core.sync;

import io.softdpu.core.sync.wire.EventCounter;
import io.softdpu.core.sync.wire.HandlePage;
import io.softdpu.core.sync.wire.JoinRequest;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.memory.SharedSegment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * The two handles of a sync event, joined by the handshake of the product over two buses of this
 * process, each with a thread that may sleep. Used in turn, since each holds descriptors: there are
 * more than jcstress has states of such tests at a time.
 */
final class HandlePair {
    private static final int COUNT = 256;
    private static final long SECOND = 1_000_000_000L;
    private static final long LOST_NANOS = 2 * SECOND;
    private static final HandlePair[] POOL = new HandlePair[COUNT];
    private static final AtomicLong NEXT = new AtomicLong();

    static {
        try {
            Path folder = Files.createTempDirectory("softdpu-jcstress-");
            Bus host = open(folder);
            Bus card = open(folder);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> end(host, card, folder)));
            for (int i = 0; i < COUNT; i++) {
                POOL[i] = new HandlePair(host, card);
            }
        } catch (IOException | InterruptedException | ExecutionException | TimeoutException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final CpuHandle cpu;
    final DpuHandle dpu;
    final Napper ofCpu = new Napper();
    final Napper ofDpu = new Napper();
    private final SharedSegment counter;

    private HandlePair(Bus host, Bus card)
            throws InterruptedException, ExecutionException, TimeoutException {
        counter = SharedSegment.allocate("counter", EventCounter.BYTES);
        cpu = new CpuHandle(host, counter, false);
        CpuHandle.Invitation invitation = cpu.invite(Guest.DPU_HANDLE, 1);
        SharedSegment page = SharedSegment.allocate("page", HandlePage.BYTES);
        Attachment attachment =
                card.connect(
                                CpuHandle.nameOf(invitation.eventId()),
                                new JoinRequest(invitation.key()).encode(),
                                page,
                                60 * SECOND)
                        .get(60, TimeUnit.SECONDS);
        dpu = new DpuHandle(new HandleImport.Joined(card, attachment, page));
        cpu.sleepers.add(ofCpu);
        dpu.sleepers.add(ofDpu);
    }

    private static Bus open(Path folder) {
        return Bus.open(
                new Bus.Config(
                        folder.resolve("fabric"),
                        new byte[32],
                        "jcstress",
                        60 * SECOND,
                        1 << 20,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    private static void end(Bus host, Bus card, Path folder) {
        card.close();
        host.close();
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A pair whose counter is 0; no thread sleeps on it, and no doorbell is pending. */
    static HandlePair next() {
        HandlePair next = POOL[(int) (NEXT.getAndIncrement() % COUNT)];
        EventCounter.set(next.counter.segment(), 0);
        next.cpu.disarm(next.ofCpu);
        next.dpu.disarm(next.ofDpu);
        next.ofCpu.poller.clear();
        next.ofDpu.poller.clear();
        next.cpu.disarm(next.ofCpu);
        next.dpu.disarm(next.ofDpu);
        return next;
    }

    /** A thread that sleeps through a handle. */
    static final class Napper extends Sleeper {
        private final EventPoller poller = new EventPoller();

        /**
         * Sleeps until another value than 0, as an engine does.
         *
         * @return whether it has seen one, or was woken
         */
        boolean sleep(EventHandle handle) {
            return handle.arm(this, 0) || poller.sleep(LOST_NANOS);
        }

        @Override
        EventPoller poller() {
            return poller;
        }

        @Override
        void wake() {
            poller.wake();
        }
    }
}
