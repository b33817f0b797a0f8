package io.softdpu.core.sync;

import io.softdpu.core.sync.wire.HandlePage;
import io.softdpu.core.sync.wire.JoinRequest;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** Two buses of this process, and the handshake of the product by which sync events join. */
final class Buses {
    /** The bus of the events. */
    static final Bus HOST;

    /** The bus of those that join them. */
    private static final Bus CARD;

    static {
        try {
            Path folder = Files.createTempDirectory("softdpu-jcstress-");
            HOST = open(folder);
            CARD = open(folder);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> end(HOST, CARD, folder)));
        } catch (IOException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Buses() {}

    /** Joins the event of a CPU handle, the only importer of its kind. */
    static DpuHandle join(CpuHandle cpu, ImportKind kind)
            throws InterruptedException, ExecutionException, TimeoutException {
        CpuHandle.Invitation invitation = cpu.invite(kind, 1);
        SharedSegment page = SharedSegment.allocate("page", HandlePage.BYTES);
        Attachment attachment =
                CARD.connect(
                                CpuHandle.nameOf(invitation.eventId()),
                                new JoinRequest(invitation.key()).encode(),
                                page,
                                Patience.NANOS)
                        .future()
                        .get(Patience.SECONDS, TimeUnit.SECONDS);
        return new DpuHandle(kind, CARD, attachment, page);
    }

    private static Bus open(Path folder) {
        return Bus.open(
                new Bus.Config(
                        folder.resolve("fabric"),
                        new byte[32],
                        "jcstress",
                        Patience.NANOS,
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
}
