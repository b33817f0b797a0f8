package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertAll;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.rdma.contract.FarProcess.FarProgram;
import io.softdpu.rdma.contract.ProgramProcess.Program;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.Smoke;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Connections by address between two processes, one of which is killed or frozen at each step. */
public abstract class RdmaListenProcessContract extends RdmaProgramContract {
    private static final byte[] NO_DATA = {};
    private static final int PORT = 24680;

    /** Of a listener whose peer dies while it is accepted, where nothing tells of the death. */
    private static final Duration ACCEPT_TIMEOUT = Duration.ofSeconds(10);

    /** For subclasses. */
    protected RdmaListenProcessContract() {}

    /** Near side that listens, and the requests that it has got. */
    private record Listener(Peer peer, List<RdmaConnectionRequest> requests) {

        RdmaConnectionRequest nextRequest() {
            Peer.drive("a request", () -> !requests.isEmpty(), peer);
            return requests.removeFirst();
        }

        /** A request of a process that has ended may have been dropped before it was reported. */
        @Nullable RdmaConnectionRequest nextRequestOrNull() {
            Peer.drive("nothing to do", () -> !peer.engine.progress(), peer);
            return requests.isEmpty() ? null : requests.removeFirst();
        }
    }

    /** Runs the far side in the process of the class. */
    private FarProgram start() {
        return run(Program.LISTEN, Integer.toString(PORT));
    }

    private FarProgram startIn(FarProcess process, int port) {
        return runIn(process, Program.LISTEN, Integer.toString(port));
    }

    private static void perform(FarProgram program, String... steps) {
        for (String step : steps) {
            program.tell(step);
            program.awaitLine(ListenProgram.DONE + step);
        }
    }

    private RdmaConnection connect(Peer near) {
        return connect(near, PORT, NO_DATA);
    }

    private RdmaConnection connect(Peer near, int port, byte[] privateData) {
        Peer far = openFar(); // knows the address; it is not started
        return near.rdma.connect(
                new RdmaAddress(RdmaAddress.Type.IPV4, far.device.info().ipv4(), port),
                privateData);
    }

    /** A started side whose connects wait longer than any step takes. */
    private Peer openPatient() {
        Peer near = openConfigured(rdma -> rdma.setConnectTimeout(Patience.LIMIT));
        near.start();
        return near;
    }

    private Listener openListener(int port, Duration connectTimeout) {
        List<RdmaConnectionRequest> requests = new ArrayList<>();
        Peer near =
                openConfigured(rdma ->
                        rdma.setConnectTimeout(connectTimeout)
                                .setConnectionRequestCallback(requests::add));
        near.start();
        near.rdma.listen(port);
        return new Listener(near, requests);
    }

    private static void awaitState(
            RdmaConnection connection, RdmaConnection.State state, Peer peer) {
        Peer.drive(state.toString(), () -> connection.state() == state, peer);
    }

    @Test
    @Clause({"rdma-005", "rdma-050"})
    void shouldConnectToAListenerOfAnotherProcess() {
        Peer near = openPatient();
        FarProgram far = start();
        perform(far, ListenProgram.LISTEN);
        RdmaConnection here = connect(near);
        perform(far, ListenProgram.AWAIT_REQUEST, ListenProgram.ACCEPT);
        establish(near, here, far);

        assertThat(here.peerPrivateData()).containsExactly(1);
    }

    @Test
    void shouldNameTheProcessThatHoldsAPort(Processes processes) {
        Peer here =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> rdma.setConnectionRequestCallback(request -> {})));
        here.start();
        FarProcess process = startProcess(processes);
        perform(startIn(process, PORT), ListenProgram.LISTEN);

        String refusal = "none";
        try {
            here.rdma.listen(PORT);
        } catch (DpuException e) {
            assertThat(e.status()).isEqualTo(Status.ALREADY_EXIST);
            refusal = String.valueOf(e.getMessage());
        }
        assertThat(refusal).contains("holder=process " + process.pid() + ",");

        process.kill();
        here.rdma.listen(PORT);
    }

    /** Step of the listener's side after which it is killed. */
    enum ListenerStep {
        LISTENING(PORT + 0),
        REQUESTED(PORT + 1),
        ACCEPTED(PORT + 2),
        ANSWERED(PORT + 3);

        private final int port;

        ListenerStep(int port) {
            this.port = port;
        }
    }

    /** Side that connects, and its connection to the process that is killed. */
    private record Connector(Peer near, @Nullable RdmaConnection connection) {}

    /** A listener for each step, all of them in the process that is killed. */
    @Smoke
    @Test
    void shouldSurviveTheDeathOfTheListenerAtEachStep(Processes processes) {
        FarProcess process = startProcess(processes);
        Map<ListenerStep, Connector> connectors = new EnumMap<>(ListenerStep.class);
        for (ListenerStep step : ListenerStep.values()) {
            connectors.put(step, connectUntil(step, startIn(process, step.port)));
        }
        process.kill();
        assertAll(
                connectors.entrySet().stream()
                        .<Executable>map(entry ->
                                () -> assertSurvivesTheListener(entry.getKey(), entry.getValue())));
    }

    private Connector connectUntil(ListenerStep step, FarProgram far) {
        Peer near = openPatient();
        perform(far, ListenProgram.LISTEN);
        if (step == ListenerStep.LISTENING) {
            return new Connector(near, null);
        }
        RdmaConnection here = connect(near, step.port, NO_DATA);
        perform(far, ListenProgram.AWAIT_REQUEST);
        if (step == ListenerStep.ACCEPTED || step == ListenerStep.ANSWERED) {
            perform(far, ListenProgram.ACCEPT);
        }
        if (step == ListenerStep.ANSWERED) {
            perform(far, ListenProgram.ANSWER);
        }
        return new Connector(near, here);
    }

    private void assertSurvivesTheListener(ListenerStep step, Connector connector) {
        Peer near = connector.near();
        @Nullable RdmaConnection here = connector.connection();
        RdmaConnection failing = here == null ? connect(near, step.port, NO_DATA) : here;
        awaitState(failing, RdmaConnection.State.FAILED, near);

        assertThat(failing.failure())
                .as("%s", step)
                .isIn(
                        step == ListenerStep.LISTENING
                                ? List.of(Status.NOT_FOUND)
                                : List.of(Status.CONNECTION_RESET, Status.NOT_FOUND));
        if (step == ListenerStep.ANSWERED && !isEstablishedByBothPrograms()) {
            startAgainIfEnded(near);
        }
        assertThat(near.rdma.state()).as("%s", step).isEqualTo(ContextState.STARTING);

        FarProgram next = run(Program.LISTEN, Integer.toString(step.port));
        perform(next, ListenProgram.LISTEN);
        RdmaConnection again = connect(near, step.port, NO_DATA);
        perform(next, ListenProgram.AWAIT_REQUEST, ListenProgram.ACCEPT);
        establish(near, again, next);
    }

    /**
     * Starts an instance again whose only connection was established before it failed, which ends
     * the instance.
     *
     * @return whether it was
     */
    private static boolean startAgainIfEnded(Peer near) {
        Peer.drive("the end", () -> near.rdma.state() != ContextState.STOPPING, near);
        boolean ended = near.rdma.state() == ContextState.IDLE;
        near.start();
        return ended;
    }

    @ParameterizedTest
    @EnumSource(ListenerStep.class)
    void shouldConnectToAListenerThatWasStoppedAndContinuedAtEachStep(ListenerStep step) {
        Peer near = openPatient();
        FarProgram far = start();
        perform(far, ListenProgram.LISTEN);
        if (step == ListenerStep.LISTENING) {
            far.process().freeze();
        }
        RdmaConnection here = connect(near);
        if (step != ListenerStep.LISTENING) {
            perform(far, ListenProgram.AWAIT_REQUEST);
            if (step != ListenerStep.REQUESTED) {
                perform(far, ListenProgram.ACCEPT);
            }
            if (step == ListenerStep.ANSWERED) {
                perform(far, ListenProgram.ANSWER);
                if (!isEstablishedByBothPrograms()) {
                    awaitAnswer(near, here); // which a thread beside the program may yet send
                }
            }
            far.process().freeze();
        }
        if (step == ListenerStep.ANSWERED) {
            awaitAnswer(near, here);
        }
        progressAlone(near);
        if (step != ListenerStep.ANSWERED || isEstablishedByBothPrograms()) {
            assertThat(here.state()).isEqualTo(RdmaConnection.State.CONNECTING);
            assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
        }
        far.process().thaw();
        if (step == ListenerStep.LISTENING) {
            perform(far, ListenProgram.AWAIT_REQUEST);
        }
        if (step == ListenerStep.LISTENING || step == ListenerStep.REQUESTED) {
            perform(far, ListenProgram.ACCEPT);
        }
        establish(near, here, far);

        assertThat(here.peerPrivateData()).containsExactly(1);
        sendMessage(near, here, far);
    }

    private static void awaitAnswer(Peer near, RdmaConnection here) {
        Peer.drive("the answer", () -> here.peerPrivateData().length > 0, near);
    }

    /** Whether nothing but the program that stands still can establish an answered connection. */
    private boolean isEstablishedByBothPrograms() {
        return has(RdmaTrait.CONNECTION_IS_ESTABLISHED_BY_BOTH_PROGRAMS);
    }

    /** Does all that one side can do while the other stands still. */
    private static void progressAlone(Peer near) {
        for (int i = 0; i < 50; i++) {
            near.engine.await(Duration.ofMillis(1));
        }
    }

    private static void establish(Peer near, RdmaConnection here, FarProgram far) {
        far.tell(ListenProgram.ESTABLISH);
        awaitState(here, RdmaConnection.State.CONNECTED, near);
        far.awaitLine(ListenProgram.DONE + ListenProgram.ESTABLISH);
    }

    private static void sendMessage(Peer near, RdmaConnection here, FarProgram far) {
        far.tell(ListenProgram.RECEIVE);
        near.fill(0, ListenProgram.MESSAGE_BYTES, ListenProgram.MESSAGE_SEED);
        near.send(here, near.data(0, ListenProgram.MESSAGE_BYTES), 1);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        far.awaitLine(ListenProgram.DONE + ListenProgram.RECEIVE);
    }

    @Test
    @Clause("rdma-038")
    void shouldGiveUpAFrozenListenerAfterTheTimeoutAndConnectWhenItContinues() {
        Peer hasty = openConfigured(rdma -> rdma.setConnectTimeout(Duration.ofMillis(300)));
        Peer near = openPatient();
        hasty.start();
        FarProgram far = start();
        perform(far, ListenProgram.LISTEN);
        far.process().freeze();
        RdmaConnection failing = connect(hasty, PORT, new byte[ListenProgram.IGNORED_BYTES]);
        awaitState(failing, RdmaConnection.State.FAILED, hasty);

        assertThat(failing.failure()).isEqualTo(Status.TIME_OUT);
        assertThat(hasty.rdma.state()).isEqualTo(ContextState.STARTING);
        far.process().thaw();
        RdmaConnection here = connect(near);
        perform(far, ListenProgram.AWAIT_REQUEST, ListenProgram.ACCEPT);
        establish(near, here, far);
    }

    /** Step of the side that connects after which it is killed. */
    enum ConnectorStep {
        REQUESTED(PORT + 0),
        REPORTED(PORT + 1),
        ACCEPTED(PORT + 2),
        ANSWERED(PORT + 3);

        private final int port;

        ConnectorStep(int port) {
            this.port = port;
        }
    }

    /** Listening side, and how far the peer's connection to it has come. */
    private record Acceptor(
            Listener listener,
            @Nullable RdmaConnectionRequest request,
            @Nullable RdmaConnection connection) {}

    /** A peer for each step, all of them in the process that is killed. */
    @Test
    void shouldSurviveTheDeathOfAPeerThatConnectsAtEachStep(Processes processes) {
        FarProcess process = startProcess(processes);
        Map<ConnectorStep, Acceptor> acceptors = new EnumMap<>(ConnectorStep.class);
        for (ConnectorStep step : ConnectorStep.values()) {
            acceptors.put(step, acceptUntil(step, startIn(process, step.port)));
        }
        process.kill();
        assertAll(
                acceptors.entrySet().stream()
                        .<Executable>map(entry ->
                                () -> assertSurvivesThePeer(entry.getKey(), entry.getValue())));
    }

    private Acceptor acceptUntil(ConnectorStep step, FarProgram far) {
        Listener listener =
                openListener(
                        step.port,
                        has(RdmaTrait.DEATH_IS_NOTICED_AT_ONCE) ? Patience.LIMIT : ACCEPT_TIMEOUT);
        perform(far, ListenProgram.CONNECT);
        if (step == ConnectorStep.REQUESTED && has(RdmaTrait.DEATH_IS_NOTICED_AT_ONCE)) {
            return new Acceptor(listener, null, null); // where no request comes after the death
        }
        RdmaConnectionRequest request = listener.nextRequest();
        if (step == ConnectorStep.REQUESTED || step == ConnectorStep.REPORTED) {
            return new Acceptor(listener, request, null);
        }
        RdmaConnection here = request.accept(NO_DATA);
        if (step == ConnectorStep.ANSWERED) {
            sendAnswer(listener.peer());
        }
        return new Acceptor(listener, request, here);
    }

    private static void sendAnswer(Peer near) {
        near.engine.progress();
        near.engine.progress();
    }

    private void assertSurvivesThePeer(ConnectorStep step, Acceptor acceptor) {
        Listener listener = acceptor.listener();
        Peer near = listener.peer();
        @Nullable RdmaConnection here = acceptor.connection();
        if (here != null) {
            awaitState(here, RdmaConnection.State.FAILED, near);
            assertThat(here.failure())
                    .as("%s", step)
                    .isIn(
                            has(RdmaTrait.DEATH_IS_NOTICED_AT_ONCE)
                                    ? List.of(Status.CONNECTION_RESET, Status.NOT_FOUND)
                                    : List.of(Status.CONNECTION_RESET, Status.TIME_OUT));
            if (step == ConnectorStep.ANSWERED
                    && !isEstablishedByBothPrograms()
                    && startAgainIfEnded(near)) {
                near.rdma.listen(step.port);
            } else {
                assertThat(near.rdma.state()).as("%s", step).isEqualTo(ContextState.RUNNING);
            }
        } else {
            @Nullable RdmaConnectionRequest request = acceptor.request();
            @Nullable RdmaConnectionRequest waiting =
                    request == null ? listener.nextRequestOrNull() : request;
            Peer.drive("its end", () -> waiting == null || !waiting.isPending(), near);
            assertThat(near.rdma.state()).as("%s", step).isEqualTo(ContextState.STARTING);
        }

        FarProgram next = run(Program.LISTEN, Integer.toString(step.port));
        perform(next, ListenProgram.CONNECT);
        establish(near, listener.nextRequest().accept(NO_DATA), next);
    }

    @ParameterizedTest
    @EnumSource(ConnectorStep.class)
    void shouldAcceptAPeerThatWasStoppedAndContinuedAtEachStep(ConnectorStep step) {
        Listener listener = openListener(PORT, Patience.LIMIT);
        Peer near = listener.peer();
        FarProgram far = start();
        perform(far, ListenProgram.CONNECT);
        @Nullable RdmaConnection here = null;
        if (step == ConnectorStep.REQUESTED) {
            far.process().freeze(); // its bus thread, too, before or after it has sent the request
        } else {
            RdmaConnectionRequest request = listener.nextRequest();
            if (step != ConnectorStep.REPORTED) {
                here = request.accept(NO_DATA);
            }
            if (step == ConnectorStep.ANSWERED) {
                sendAnswer(near);
            }
            far.process().freeze();
            if (step == ConnectorStep.REPORTED) {
                assertThat(request.isPending()).isTrue();
                here = request.accept(NO_DATA);
            }
        }
        progressAlone(near);
        if (here != null) {
            if (step != ConnectorStep.ANSWERED || isEstablishedByBothPrograms()) {
                assertThat(here.state()).isEqualTo(RdmaConnection.State.CONNECTING);
            }
            assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        }
        far.process().thaw();
        RdmaConnection connecting = here == null ? listener.nextRequest().accept(NO_DATA) : here;
        establish(near, connecting, far);
        sendMessage(near, connecting, far);
    }

    @Test
    void shouldGiveUpAnAcceptedPeerThatIsFrozenAndAcceptTheNext(Processes processes) {
        Listener listener = openListener(PORT, Duration.ofMillis(500));
        Peer near = listener.peer();
        FarProgram far = startIn(startProcess(processes), PORT);
        perform(far, ListenProgram.CONNECT);
        RdmaConnectionRequest request = listener.nextRequest();
        far.process().freeze();
        RdmaConnection here = request.accept(NO_DATA); // the timeout begins here
        awaitState(here, RdmaConnection.State.FAILED, near);

        assertThat(here.failure()).isEqualTo(Status.TIME_OUT);
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        far.process().kill();
        perform(start(), ListenProgram.CONNECT);
        RdmaConnectionRequest second = listener.nextRequest();
        assertThat(second.privateData()).containsExactly(2);
    }
}
