package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Connections by address between two processes, one of which is killed or frozen at each step. */
@StartsProcesses
public abstract class RdmaListenProcessContract extends RdmaContract {
    private static final byte[] NO_DATA = {};

    private final List<RdmaConnectionRequest> requests = new ArrayList<>();

    /** For subclasses. */
    protected RdmaListenProcessContract() {}

    private ChildProcess start(Processes processes) {
        return processes.start(
                JavaCommand.ofClass(ListenProgram.class)
                        .withArguments(environment().getClass().getName(), folder().toString()));
    }

    private static void tell(ChildProcess process, String step) throws IOException {
        process.standardInput().write((step + "\n").getBytes(StandardCharsets.US_ASCII));
        process.standardInput().flush();
    }

    private static void perform(ChildProcess process, String... steps) throws IOException {
        for (String step : steps) {
            tell(process, step);
            process.awaitLine("^" + ListenProgram.DONE + step);
        }
    }

    private RdmaConnection connect(Peer near) {
        return connect(near, NO_DATA);
    }

    private RdmaConnection connect(Peer near, byte[] privateData) {
        Peer far = openFar(); // knows the address; it is not started
        return near.rdma.connect(
                new RdmaAddress(
                        RdmaAddress.Type.IPV4, far.device.info().ipv4(), ListenProgram.PORT),
                privateData);
    }

    /** A started side whose connects wait longer than any step takes. */
    private Peer openPatient() {
        Peer near = openConfigured(rdma -> rdma.setConnectTimeout(Patience.LIMIT));
        near.start();
        return near;
    }

    private Peer openListener() {
        Peer near =
                openConfigured(rdma ->
                        rdma.setConnectTimeout(Patience.LIMIT)
                                .setConnectionRequestCallback(requests::add));
        near.start();
        near.rdma.listen(ListenProgram.PORT);
        return near;
    }

    private RdmaConnectionRequest nextRequest(Peer near) {
        Peer.drive("a request", () -> !requests.isEmpty(), near);
        return requests.removeFirst();
    }

    private static void awaitState(
            RdmaConnection connection, RdmaConnection.State state, Peer peer) {
        Peer.drive(state.toString(), () -> connection.state() == state, peer);
    }

    @Test
    @Clause({"rdma-005", "rdma-050"})
    void shouldConnectToAListenerOfAnotherProcess(Processes processes) throws IOException {
        Peer near = openPatient();
        ChildProcess far = start(processes);
        perform(far, ListenProgram.LISTEN);
        RdmaConnection here = connect(near);
        perform(far, ListenProgram.AWAIT_REQUEST, ListenProgram.ACCEPT);
        tell(far, ListenProgram.ESTABLISH);
        awaitState(here, RdmaConnection.State.CONNECTED, near);
        far.awaitLine("^" + ListenProgram.DONE + ListenProgram.ESTABLISH);

        assertThat(here.peerPrivateData()).containsExactly(1);
    }

    @Test
    void shouldNameTheProcessThatHoldsAPort(Processes processes) throws IOException {
        Peer here =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> rdma.setConnectionRequestCallback(requests::add)));
        here.start();
        ChildProcess far = start(processes);
        perform(far, ListenProgram.LISTEN);

        String refusal = "none";
        try {
            here.rdma.listen(ListenProgram.PORT);
        } catch (DpuException e) {
            assertThat(e.status()).isEqualTo(Status.ALREADY_EXIST);
            refusal = String.valueOf(e.getMessage());
        }
        assertThat(refusal).contains("holder=process " + far.pid() + ",");

        far.kill();
        far.awaitExit();
        here.rdma.listen(ListenProgram.PORT);
    }

    /** Step of the listener's side after which it is killed. */
    enum ListenerStep {
        LISTENING,
        REQUESTED,
        ACCEPTED,
        ANSWERED
    }

    @ParameterizedTest
    @EnumSource(ListenerStep.class)
    void shouldSurviveTheDeathOfTheListenerAtEachStep(ListenerStep step, Processes processes)
            throws IOException {
        Peer near = openPatient();
        ChildProcess far = start(processes);
        perform(far, ListenProgram.LISTEN);
        @Nullable RdmaConnection here = null;
        if (step != ListenerStep.LISTENING) {
            here = connect(near);
            perform(far, ListenProgram.AWAIT_REQUEST);
        }
        if (step == ListenerStep.ACCEPTED || step == ListenerStep.ANSWERED) {
            perform(far, ListenProgram.ACCEPT);
        }
        if (step == ListenerStep.ANSWERED) {
            perform(far, ListenProgram.ANSWER);
        }
        far.kill();
        far.awaitExit();
        RdmaConnection failing = here == null ? connect(near) : here;
        awaitState(failing, RdmaConnection.State.FAILED, near);

        assertThat(failing.failure())
                .isIn(
                        step == ListenerStep.LISTENING
                                ? List.of(Status.NOT_FOUND)
                                : List.of(Status.CONNECTION_RESET, Status.NOT_FOUND));
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
        connectToTheNextListener(near, processes);
    }

    private void connectToTheNextListener(Peer near, Processes processes) throws IOException {
        ChildProcess next = start(processes);
        perform(next, ListenProgram.LISTEN);
        RdmaConnection again = connect(near);
        perform(next, ListenProgram.AWAIT_REQUEST, ListenProgram.ACCEPT);
        tell(next, ListenProgram.ESTABLISH);
        awaitState(again, RdmaConnection.State.CONNECTED, near);
    }

    @ParameterizedTest
    @EnumSource(ListenerStep.class)
    void shouldConnectToAListenerThatWasStoppedAndContinuedAtEachStep(
            ListenerStep step, Processes processes) throws IOException {
        Peer near = openPatient();
        ChildProcess far = start(processes);
        perform(far, ListenProgram.LISTEN);
        if (step == ListenerStep.LISTENING) {
            far.freeze();
        }
        RdmaConnection here = connect(near);
        if (step != ListenerStep.LISTENING) {
            perform(far, ListenProgram.AWAIT_REQUEST);
            if (step != ListenerStep.REQUESTED) {
                perform(far, ListenProgram.ACCEPT);
            }
            if (step == ListenerStep.ANSWERED) {
                perform(far, ListenProgram.ANSWER);
            }
            far.freeze();
        }
        if (step == ListenerStep.ANSWERED) {
            Peer.drive("the answer", () -> here.peerPrivateData().length > 0, near);
        }
        progressAlone(near);
        assertThat(here.state()).isEqualTo(RdmaConnection.State.CONNECTING);
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
        far.thaw();
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

    /** Does all that one side can do while the other stands still. */
    private static void progressAlone(Peer near) {
        for (int i = 0; i < 50; i++) {
            near.engine.await(Duration.ofMillis(1));
        }
    }

    private static void establish(Peer near, RdmaConnection here, ChildProcess far)
            throws IOException {
        tell(far, ListenProgram.ESTABLISH);
        awaitState(here, RdmaConnection.State.CONNECTED, near);
        far.awaitLine("^" + ListenProgram.DONE + ListenProgram.ESTABLISH);
    }

    private static void sendMessage(Peer near, RdmaConnection here, ChildProcess far)
            throws IOException {
        tell(far, ListenProgram.RECEIVE);
        near.fill(0, ListenProgram.MESSAGE_BYTES, ListenProgram.MESSAGE_SEED);
        near.send(here, near.data(0, ListenProgram.MESSAGE_BYTES), 1);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        far.awaitLine("^" + ListenProgram.DONE + ListenProgram.RECEIVE);
    }

    @Test
    @Clause("rdma-038")
    void shouldGiveUpAFrozenListenerAfterTheTimeoutAndConnectWhenItContinues(Processes processes)
            throws IOException {
        Peer hasty = openConfigured(rdma -> rdma.setConnectTimeout(Duration.ofMillis(300)));
        Peer near = openPatient();
        hasty.start();
        ChildProcess far = start(processes);
        perform(far, ListenProgram.LISTEN);
        far.freeze();
        RdmaConnection failing = connect(hasty, new byte[ListenProgram.IGNORED_BYTES]);
        awaitState(failing, RdmaConnection.State.FAILED, hasty);

        assertThat(failing.failure()).isEqualTo(Status.TIME_OUT);
        assertThat(hasty.rdma.state()).isEqualTo(ContextState.STARTING);
        far.thaw();
        RdmaConnection here = connect(near);
        perform(far, ListenProgram.AWAIT_REQUEST, ListenProgram.ACCEPT);
        tell(far, ListenProgram.ESTABLISH);
        awaitState(here, RdmaConnection.State.CONNECTED, near);
    }

    /** Step of the side that connects after which it is killed. */
    enum ConnectorStep {
        REQUESTED,
        REPORTED,
        ACCEPTED,
        ANSWERED
    }

    @ParameterizedTest
    @EnumSource(ConnectorStep.class)
    void shouldSurviveTheDeathOfAPeerThatConnectsAtEachStep(ConnectorStep step, Processes processes)
            throws IOException {
        Peer near = openListener();
        ChildProcess far = start(processes);
        perform(far, ListenProgram.CONNECT);
        @Nullable RdmaConnectionRequest request = null;
        @Nullable RdmaConnection here = null;
        if (step != ConnectorStep.REQUESTED) {
            request = nextRequest(near);
        }
        if (request != null && step != ConnectorStep.REPORTED) {
            here = request.accept(NO_DATA);
        }
        if (step == ConnectorStep.ANSWERED) {
            near.engine.progress();
            near.engine.progress();
        }
        far.kill();
        far.awaitExit();
        if (here != null) {
            awaitState(here, RdmaConnection.State.FAILED, near);
            assertThat(here.failure())
                    .isIn(Status.CONNECTION_RESET, Status.NOT_FOUND, Status.TIME_OUT);
            assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        } else {
            RdmaConnectionRequest waiting = request == null ? nextRequestOrNull(near) : request;
            Peer.drive("its end", () -> waiting == null || !waiting.isPending(), near);
            assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
        }

        ChildProcess next = start(processes);
        perform(next, ListenProgram.CONNECT);
        RdmaConnection again = nextRequest(near).accept(NO_DATA);
        tell(next, ListenProgram.ESTABLISH);
        awaitState(again, RdmaConnection.State.CONNECTED, near);
        next.awaitLine("^" + ListenProgram.DONE + ListenProgram.ESTABLISH);
    }

    @ParameterizedTest
    @EnumSource(ConnectorStep.class)
    void shouldAcceptAPeerThatWasStoppedAndContinuedAtEachStep(
            ConnectorStep step, Processes processes) throws IOException {
        Peer near = openListener();
        ChildProcess far = start(processes);
        perform(far, ListenProgram.CONNECT);
        @Nullable RdmaConnection here = null;
        if (step == ConnectorStep.REQUESTED) {
            far.freeze(); // its bus thread as well, before or after it has sent the request
        } else {
            RdmaConnectionRequest request = nextRequest(near);
            if (step != ConnectorStep.REPORTED) {
                here = request.accept(NO_DATA);
            }
            if (step == ConnectorStep.ANSWERED) {
                near.engine.progress();
                near.engine.progress();
            }
            far.freeze();
            if (step == ConnectorStep.REPORTED) {
                assertThat(request.isPending()).isTrue();
                here = request.accept(NO_DATA);
            }
        }
        progressAlone(near);
        if (here != null) {
            assertThat(here.state()).isEqualTo(RdmaConnection.State.CONNECTING);
            assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        }
        far.thaw();
        RdmaConnection connecting = here == null ? nextRequest(near).accept(NO_DATA) : here;
        establish(near, connecting, far);
        sendMessage(near, connecting, far);
    }

    /** A request of a process that has ended may have been dropped before it was reported. */
    private @Nullable RdmaConnectionRequest nextRequestOrNull(Peer near) {
        Peer.drive("nothing to do", () -> !near.engine.progress(), near);
        return requests.isEmpty() ? null : requests.removeFirst();
    }

    @Test
    void shouldGiveUpAnAcceptedPeerThatIsFrozenAndAcceptTheNext(Processes processes)
            throws IOException {
        Peer near =
                openConfigured(rdma ->
                        rdma.setConnectTimeout(Duration.ofMillis(500))
                                .setConnectionRequestCallback(requests::add));
        near.start();
        near.rdma.listen(ListenProgram.PORT);
        ChildProcess far = start(processes);
        perform(far, ListenProgram.CONNECT);
        RdmaConnectionRequest request = nextRequest(near);
        far.freeze();
        RdmaConnection here = request.accept(NO_DATA);
        awaitState(here, RdmaConnection.State.FAILED, near);

        assertThat(here.failure()).isEqualTo(Status.TIME_OUT);
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        far.thaw();
        far.kill();
        ChildProcess next = start(processes);
        perform(next, ListenProgram.CONNECT);
        RdmaConnectionRequest second = nextRequest(near);
        assertThat(second.privateData()).containsExactly(2);
    }
}
