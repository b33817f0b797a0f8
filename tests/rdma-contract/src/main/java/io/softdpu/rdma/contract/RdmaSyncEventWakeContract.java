package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.ProcessView;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Processes that wait for a sync event which an RDMA peer updates: they are woken without any call
 * of RDMA by the program that exported the event.
 */
@StartsProcesses
public abstract class RdmaSyncEventWakeContract extends RdmaContract {

    /** For subclasses. */
    protected RdmaSyncEventWakeContract() {}

    /** Process with the event, and the connection to it. */
    private record Remote(ChildProcess process, RdmaConnection connection, RemoteSyncEvent event) {}

    // ---- the process of the event ----

    @ParameterizedTest
    @ValueSource(strings = {"sync", "engine", "queue"})
    @Clause({"rdma-167", "rdma-175"})
    void shouldEndTheWaitsOfTheEventsProcess(String mode, Processes processes) throws IOException {
        Peer near = openNear();
        Remote far = connect(near, processes, mode);
        wait(far.process(), 0, mode);
        near.addEvent(far.connection(), far.event(), near.room(0, 8), 1, 1);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertWoken(far.process(), 1);

        wait(far.process(), 4, mode);
        set(near, far, 4); // not enough: it goes on
        set(near, far, 5);
        assertWoken(far.process(), 5);
        near.stop();
    }

    private static void set(Peer near, Remote far, long value) {
        near.setWord(64, value);
        near.setEvent(far.connection(), far.event(), near.data(64, 8), 2);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    void shouldLoseNoWakeUpOfManyUpdates(String mode, Processes processes) throws IOException {
        Peer near = openNear();
        Remote far = connect(near, processes, mode);
        for (int i = 0; i < 1000; i++) {
            tell(far.process(), Integer.toString(i));
            near.addEvent(far.connection(), far.event(), near.room(0, 8), 1, i);
            assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
            assertThat(near.word(0)).isEqualTo(i);
            assertWoken(far.process(), i + 1);
        }
        near.stop();
    }

    /**
     * Work completes in order, so an update behind a send may complete only when the program of the
     * event has received: which sleeps until the update. Then the connection ends; whether the two
     * had completed before depends on the provider.
     */
    @ParameterizedTest
    @CsvSource({"engine, false", "engine, true", "queue, false", "queue, true"})
    @Clause({"rdma-167", "rdma-175"})
    void shouldEndTheWaitsBehindASendThatTheSleeperHasToReceive(
            String mode, boolean adds, Processes processes) throws IOException {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(2));
        Remote far = connect(near, processes, mode);
        wait(far.process(), 0, mode);
        near.send(far.connection(), near.data(0, 64), 1);
        if (adds) {
            near.addEvent(far.connection(), far.event(), near.room(64, 8), 9, 2);
        } else {
            near.setWord(64, 9);
            near.setEvent(far.connection(), far.event(), near.data(64, 8), 2);
        }
        Peer.drive(
                "the event's process is woken",
                () -> far.process().outputLines().contains(EventProgram.WOKEN + 9),
                near);
        far.connection().disconnect();
        Peer.drive("both complete", () -> near.outcomes.size() == 2, near);
        far.event().close();
    }

    @Test
    void shouldFailWithAResetWhenTheProcessOfTheEventIsKilled(Processes processes)
            throws IOException {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(2));
        Remote far = connect(near, processes, "sync");
        far.process().kill();
        far.process().awaitExit();
        List<Status> statuses = new ArrayList<>();
        if (has(RdmaTrait.DEATH_IS_NOTICED_AT_ONCE)) {
            Await.until(
                    "the end of the process",
                    () -> {
                        near.engine.progress();
                        statuses.add(
                                near.getEvent(far.connection(), far.event(), near.room(0, 8), 1));
                        return statuses.getLast() != Status.SUCCESS;
                    });
            assertThat(statuses.getLast()).isEqualTo(Status.CONNECTION_RESET);
        } else {
            near.getEvent(far.connection(), far.event(), near.room(0, 8), 1);
            assertThat(near.next().status()).isNotEqualTo(Status.SUCCESS);
        }
    }

    // ---- the process of a DPU handle ----

    @ParameterizedTest
    @ValueSource(strings = {"sync", "engine", "queue"})
    @Clause({"rdma-167", "rdma-175"})
    void shouldEndTheWaitsOfADpuHandlesProcess(String mode, Processes processes)
            throws IOException {
        Peer near = openNear();
        Peer host = add(Peer.open(environment(), folder(), Side.HOST));
        Pair pair = connect(near, host);
        SyncEvent event =
                SyncEvent.create(host.device)
                        .addPublisherLocation(SyncEventLocation.REMOTE)
                        .addSubscriberLocation(SyncEventLocation.DPU)
                        .start();
        host.closeLater(() -> Peer.end(event));
        RemoteSyncEvent remote = near.remoteEvent(host, event);
        ChildProcess handle =
                start(processes, mode, HexFormat.of().formatHex(event.exportPci(host.device)));
        handle.awaitLine(EventProgram.READY);
        for (int i = 0; i < 20; i++) {
            wait(handle, i, mode);
            near.addEvent(pair.toFar(), remote, near.room(0, 8), 1, i);
            assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
            assertWoken(handle, i + 1);
        }
    }

    /** Several processes sleep, and several remote events update. */
    @Test
    @Clause("rdma-175")
    void shouldEndTheWaitsOfAllByAnUpdateOfAnyRemoteEvent(Processes processes) throws IOException {
        Peer near = openNear();
        Peer host = add(Peer.open(environment(), folder(), Side.HOST));
        Pair pair = connect(near, host);
        SyncEvent event =
                SyncEvent.create(host.device)
                        .addPublisherLocation(SyncEventLocation.REMOTE)
                        .addSubscriberLocation(SyncEventLocation.DPU)
                        .start();
        host.closeLater(() -> Peer.end(event));
        List<RemoteSyncEvent> updating =
                List.of(near.remoteEvent(host, event), near.remoteEvent(host, event));
        String blob = HexFormat.of().formatHex(event.exportPci(host.device));
        List<String> modes = List.of("engine", "queue", "queue");
        List<ChildProcess> sleepers = new ArrayList<>();
        for (String mode : modes) {
            sleepers.add(start(processes, mode, blob));
        }
        for (ChildProcess sleeper : sleepers) {
            sleeper.awaitLine(EventProgram.READY);
        }
        for (int i = 0; i < 20; i++) {
            for (int j = 0; j < modes.size(); j++) {
                wait(sleepers.get(j), i, modes.get(j));
            }
            near.addEvent(pair.toFar(), updating.get(i % 2), near.room(0, 8), 1, i);
            assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
            for (ChildProcess sleeper : sleepers) {
                assertWoken(sleeper, i + 1);
            }
        }
    }

    // ---- processes ----

    private Remote connect(Peer near, Processes processes, String mode) throws IOException {
        near.start();
        RdmaConnection connection = near.rdma.exportConnection();
        ChildProcess process = start(processes, mode);
        near.rdma.connect(blob(process, EventProgram.CONNECTION), connection);
        tell(process, HexFormat.of().formatHex(connection.blob()));
        Peer.drive("connection", () -> connection.state() == RdmaConnection.State.CONNECTED, near);
        process.awaitLine(EventProgram.READY);
        return new Remote(process, connection, near.remoteEvent(blob(process, EventProgram.EVENT)));
    }

    private ChildProcess start(Processes processes, String mode, String... blob) {
        List<String> arguments = new ArrayList<>();
        arguments.addAll(List.of(environment().getClass().getName(), folder().toString(), mode));
        arguments.addAll(List.of(blob));
        return processes.start(
                JavaCommand.ofClass(EventProgram.class)
                        .withArguments(arguments.toArray(String[]::new)));
    }

    private static void tell(ChildProcess process, String line) throws IOException {
        process.standardInput().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        process.standardInput().flush();
    }

    /** Lets the process wait, and returns when it does: in event-driven modes, when it sleeps. */
    private static void wait(ChildProcess process, long above, String mode) throws IOException {
        tell(process, Long.toString(above));
        String begin = EventProgram.WAITING + above + " ";
        String line = process.awaitLine("^" + begin);
        if (mode.equals("sync")) {
            return;
        }
        Path stat =
                Path.of("/proc")
                        .resolve(Long.toString(process.pid()))
                        .resolve("task")
                        .resolve(line.substring(begin.length()))
                        .resolve("stat");
        Await.until(
                "the thread sleeps",
                () -> {
                    String text = ProcessView.text(stat);
                    return text.charAt(text.lastIndexOf(')') + 2) == 'S';
                });
    }

    private static void assertWoken(ChildProcess process, long value) {
        process.awaitLine("^" + EventProgram.WOKEN + value + "$");
    }

    private static byte[] blob(ChildProcess process, String prefix) {
        String line = process.awaitLine("^" + prefix);
        return HexFormat.of().parseHex(line.substring(prefix.length()));
    }
}
