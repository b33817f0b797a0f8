package io.softdpu.perf.comch;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Representor;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.perf.child.ProcessMemory;
import io.softdpu.perf.child.ResourceUse;
import java.time.Duration;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The DPU's part in a measurement of idle connections: a second server, for them alone, and answers
 * to the host, which asks over the connection of the first. Belongs to the DPU's thread.
 */
final class IdleServer {
    /** Name of the server of the idle connections. */
    static final String NAME = "perf-idle";

    /** A question for the {@link #MEMORY memory} of this process, after a garbage collection. */
    static final String ASK_MEMORY = "memory?";

    /** An answer: proportional resident bytes, a number follows. */
    static final String MEMORY = "memory ";

    /** A question for what this process has used, which sleeps from then on. */
    static final String ASK_USE = "use?";

    /** A request to import, the export follows. */
    static final String IMPORT = "import ";

    /** The answer: it has begun. */
    static final String IMPORTING = "importing";

    /** A request to end that. */
    static final String END_IMPORTS = "end imports";

    /** The answer: so many were made, a number follows. */
    static final String IMPORTED = "imported ";

    /** Name of exported memory, of which this process has only imported one. */
    private static final String IMPORTED_MEMORY = "softdpu";

    private final ComchSide side;
    private final ComchConnection host;
    private @Nullable String asked;
    private @Nullable ImportLoad imports;

    IdleServer(ComchSide side, ComchConnection host) {
        this.side = side;
        this.host = host;
    }

    /** Serves idle connections until the host has gone. */
    void serve(Representor representor) {
        ComchServer server = ComchServer.create(side.device, representor, NAME);
        side.keep(() -> side.stop(server));
        server.setMaxClients(side.plan.clients())
                .setSendTasks(1, ComchSendTask::free, ComchSendTask::free)
                .setMessageCallback((_, _) -> {})
                .setConnectedCallback(_ -> {});
        side.engine.connect(server);
        server.start();
        side.receive(host); // from here on questions are answered
        while (host.isConnected()) {
            // Not by a turn, which ends after a while: the process is to sleep as long as it can.
            side.sleep(side.plan.deadlineNanos());
            String question = asked;
            if (question != null) {
                asked = null;
                answer(question);
            }
        }
    }

    /** Takes a question; it is answered after the pass of progress. */
    void receivedControl(String message) {
        asked = message;
    }

    private void answer(String question) {
        if (question.equals(ASK_MEMORY)) {
            if (imports == null) { // while there are, the host asks for the collection alone
                // Released imports are unmapped later, and would be the host's memory as well.
                side.until(
                        "imports are unmapped",
                        () -> ProcessMemory.mappedBytes(IMPORTED_MEMORY) == 0);
            }
            System.gc(); // garbage is not memory of the connections
            side.sendControl(MEMORY + ProcessMemory.proportionalBytes());
        } else if (question.equals(ASK_USE)) {
            side.sendControl(ResourceUse.now().toString());
        } else if (question.startsWith(IMPORT)) {
            imports =
                    side.keep(
                            new ImportLoad(
                                    export(question.substring(IMPORT.length())),
                                    side.device,
                                    Duration.ofNanos(side.plan.deadlineNanos())));
            side.sendControl(IMPORTING);
        } else if (question.equals(END_IMPORTS) && imports != null) {
            long count = imports.end();
            imports = null;
            side.sendControl(IMPORTED + count);
        } else {
            throw new DpuException(
                    Status.UNEXPECTED,
                    "question of the host is not known: message="
                            + ForeignText.escapeAndCut(question));
        }
    }

    private static byte[] export(String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    "export of the host is not in base 64: message="
                            + ForeignText.escapeAndCut(text),
                    e);
        }
    }
}
