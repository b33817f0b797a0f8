package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Connections by address between instances that listen and connect, for all providers. */
public abstract class RdmaListenContract extends RdmaContract {
    private static final int PORT = 13579;
    private static final byte[] NO_DATA = {};

    /** For subclasses. */
    protected RdmaListenContract() {}

    /** Side that listens, and the requests that its callback was given. */
    private record Listener(Peer peer, List<RdmaConnectionRequest> requests) {
        RdmaConnectionRequest first(Peer... others) {
            Peer[] all = Arrays.copyOf(others, others.length + 1);
            all[others.length] = peer;
            Peer.drive("a request", () -> !requests.isEmpty(), all);
            return requests.removeFirst();
        }
    }

    private Listener openListener(int maxConnections) {
        return openListener(maxConnections, request -> {});
    }

    private Listener openListener(int maxConnections, Consumer<RdmaConnectionRequest> onRequest) {
        List<RdmaConnectionRequest> requests = new ArrayList<>();
        Peer peer =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma ->
                                        rdma.setMaxConnections(maxConnections)
                                                .setConnectionRequestCallback(request -> {
                                                    requests.add(request);
                                                    onRequest.accept(request);
                                                })));
        peer.start();
        return new Listener(peer, requests);
    }

    private static RdmaAddress addressOf(Peer listener, int port) {
        InetAddress address = listener.device.info().ipv4();
        return new RdmaAddress(RdmaAddress.Type.IPV4, address, port);
    }

    private static RdmaConnection connect(Peer near, Listener listener) {
        return near.rdma.connect(addressOf(listener.peer(), PORT), NO_DATA);
    }

    private static void awaitState(
            RdmaConnection connection, RdmaConnection.State state, Peer... peers) {
        Peer.drive(state.toString(), () -> connection.state() == state, peers);
    }

    /** Connects and accepts. */
    private static RdmaConnection[] established(Peer near, Listener listener) {
        RdmaConnection here = connect(near, listener);
        RdmaConnection there = listener.first(near).accept(NO_DATA);
        awaitState(here, RdmaConnection.State.CONNECTED, near, listener.peer());
        awaitState(there, RdmaConnection.State.CONNECTED, near, listener.peer());
        return new RdmaConnection[] {here, there};
    }

    // ---- connecting ----

    @ParameterizedTest
    @EnumSource(RdmaAddress.Type.class)
    @Clause({"rdma-005", "rdma-050"})
    void shouldConnectByEachFormOfAnAddressWithPrivateDataOfBothPrograms(RdmaAddress.Type type) {
        Peer near = openNear();
        Listener listener = openListener(1);
        near.start();
        listener.peer().rdma.listen(PORT);
        if (type == RdmaAddress.Type.IPV6 && !environment().hasIpv6()) {
            RdmaAddress notServed = RdmaAddress.of(type, "2001:db8::1", PORT);
            assertThat(Refusals.statusOf(() -> near.rdma.connect(notServed, NO_DATA)))
                    .isEqualTo(Status.NOT_SUPPORTED);
            return;
        }
        InetAddress target = addressOf(listener.peer(), type);
        InetAddress source = addressOf(near, type);
        String text = target.getHostAddress();
        RdmaAddress address =
                RdmaAddress.of(type, type == RdmaAddress.Type.GID ? "::ffff:" + text : text, PORT);
        byte[] question = numbered(Rdma.MAX_CONNECT_DATA_BYTES);
        byte[] answer = numbered(Rdma.MAX_ACCEPT_DATA_BYTES);

        RdmaConnection here = near.rdma.connect(address, question);
        assertThat(here.state()).isEqualTo(RdmaConnection.State.CONNECTING);
        assertThat(here.peerAddress()).isEqualTo(target);
        RdmaConnectionRequest request = listener.first(near);
        assertThat(request.port()).isEqualTo(PORT);
        assertThat(request.context()).isSameAs(listener.peer().rdma);
        assertThat(request.peerAddress()).isEqualTo(source);
        assertThat(request.privateData()).isEqualTo(numbered(Rdma.MAX_CONNECT_DATA_BYTES));
        Arrays.fill(question, (byte) 0); // it was copied

        RdmaConnection there = request.accept(answer);
        Arrays.fill(answer, (byte) 0);
        assertThat(request.isPending()).isFalse();
        assertThat(there.state()).isEqualTo(RdmaConnection.State.CONNECTING);
        assertThat(there.peerAddress()).isEqualTo(source);
        assertThat(there.peerPrivateData()).isEqualTo(numbered(Rdma.MAX_CONNECT_DATA_BYTES));
        assertThat(here.peerPrivateData()).isEmpty();
        awaitState(here, RdmaConnection.State.CONNECTED, near, listener.peer());
        awaitState(there, RdmaConnection.State.CONNECTED, near, listener.peer());

        assertThat(here.peerPrivateData()).isEqualTo(numbered(Rdma.MAX_ACCEPT_DATA_BYTES));
        assertThat(here.blob()).isEmpty();
        near.engine.progress();
        listener.peer().engine.progress();
        for (Peer peer : List.of(near, listener.peer())) {
            assertThat(peer.rdma.state()).isEqualTo(ContextState.RUNNING);
            assertThat(peer.states).containsExactly(ContextState.STARTING, ContextState.RUNNING);
            assertThat(peer.connectionStates).containsExactly(RdmaConnection.State.CONNECTED);
        }
    }

    private static InetAddress addressOf(Peer peer, RdmaAddress.Type type) {
        return type == RdmaAddress.Type.IPV6
                ? peer.device.info().ipv6()
                : peer.device.info().ipv4();
    }

    /** Both are addresses of the destination's family, whichever GID the instances have. */
    @ParameterizedTest
    @CsvSource({"IPV4, 1", "IPV6, 0", "GID, 1"})
    void shouldTellTheAddressOfTheFamilyThatThePeerConnectsTo(RdmaAddress.Type type, int gidIndex) {
        assumeTrue(environment().hasIpv6(), "no IPv6");
        Peer near = openConfigured(rdma -> rdma.setGidIndex(gidIndex));
        Listener listener = openListener(1);
        near.start();
        listener.peer().rdma.listen(PORT);
        InetAddress target = addressOf(listener.peer(), type);
        RdmaConnection here = near.rdma.connect(new RdmaAddress(type, target, PORT), NO_DATA);

        RdmaConnectionRequest request = listener.first(near);
        assertThat(request.peerAddress()).isEqualTo(addressOf(near, type));
        assertThat(request.accept(NO_DATA).peerAddress()).isEqualTo(addressOf(near, type));
        awaitState(here, RdmaConnection.State.CONNECTED, near, listener.peer());
    }

    @Test
    void shouldConnectAnInstanceToItsOwnListener() {
        Listener listener = openListener(2);
        Peer peer = listener.peer();
        peer.rdma.listen(PORT);
        RdmaConnection here = connect(peer, listener);
        RdmaConnectionRequest request = listener.first();
        assertThat(request.peerAddress()).isEqualTo(peer.device.info().ipv4());
        RdmaConnection there = request.accept(NO_DATA);
        awaitState(here, RdmaConnection.State.CONNECTED, peer);
        awaitState(there, RdmaConnection.State.CONNECTED, peer);

        there.disconnect();

        awaitState(here, RdmaConnection.State.DISCONNECTED, peer);
    }

    private static byte[] numbered(int length) {
        byte[] data = new byte[length];
        for (int i = 0; i < length; i++) {
            data[i] = (byte) (i - 7);
        }
        return data;
    }

    @Test
    @Clause({"rdma-005", "rdma-049"})
    void shouldTransferDataOnAConnectionByAddressAsOnAnyOther() {
        Peer near = openNear();
        Listener listener = openListener(1);
        near.start();
        listener.peer().rdma.listen(PORT);
        RdmaConnection[] ends = established(near, listener);
        Peer far = listener.peer();
        Mmap remote = near.importRdma(far);
        near.fill(0, 5000, 1);
        far.fill(0, 5000, 2);

        near.receive(near.room(8192, 5000), 1);
        far.send(ends[1], far.data(0, 5000), 2);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(8192, 5000, 2)).isEqualTo(-1);
        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);

        near.write(ends[0], near.data(0, 5000), near.inventory.bufByAddress(remote, 8192, 5000), 3);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(far.mismatch(8192, 5000, 1)).isEqualTo(-1);
        near.read(ends[0], near.inventory.bufByData(remote, 0, 5000), near.room(16384, 5000), 4);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(16384, 5000, 2)).isEqualTo(-1);
    }

    @Test
    @Clause("rdma-014")
    void shouldPassAnExportOfMemoryInTheDataOfTheAnswer() {
        Peer near = openNear();
        Listener listener = openListener(1);
        Peer far = listener.peer();
        near.start();
        far.rdma.listen(PORT);
        byte[] export = far.mmap.exportRdma(far.device);
        assertThatThrownBy(() -> near.rdma.connect(addressOf(far, PORT), export))
                .hasMessageContaining(
                        "too much private data: call=connect, sizeBytes="
                                + export.length
                                + ", expected=0 to 56")
                .hasMessageContaining("export of an mmap fits into the data of accept");
        RdmaConnection here = connect(near, listener);
        listener.first(near).accept(export);
        awaitState(here, RdmaConnection.State.CONNECTED, near, far);

        try (Mmap remote = Mmap.createFromExport(here.peerPrivateData(), near.device)) {
            near.fill(0, 64, 1);
            near.write(here, near.data(0, 64), near.inventory.bufByAddress(remote, 128, 64), 1);
            assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
            assertThat(far.mismatch(128, 64, 1)).isEqualTo(-1);
        }
    }

    /** The listener's side may be accessed as its instance grants, and so may the other. */
    @Test
    void shouldGrantOnAConnectionByAddressWhatEachInstanceGrants() {
        Peer near = openNear();
        List<RdmaConnectionRequest> requests = new ArrayList<>();
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma ->
                                        rdma.setPermissions(Permissions.LOCAL_READ_WRITE)
                                                .setConnectionRequestCallback(requests::add)));
        far.start();
        near.start();
        far.rdma.listen(PORT);
        RdmaConnection[] ends = established(near, new Listener(far, requests));
        Mmap ofFar = near.importRdma(far);
        Mmap ofNear = far.importRdma(near);

        Buf source = near.inventory.bufByData(ofFar, 0, 8);
        assertThat(near.read(ends[0], source, near.room(0, 8), 1)).isEqualTo(Status.NOT_PERMITTED);
        Buf allowed = far.inventory.bufByData(ofNear, 0, 8);
        assertThat(far.read(ends[1], allowed, far.room(0, 8), 2)).isEqualTo(Status.SUCCESS);
        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause({"rdma-049", "rdma-186"})
    void shouldBeRunningFromTheAcceptanceAndBeforeThePeerIsNotified() {
        Peer near = openConfigured(rdma -> rdma.setRnrRetries(0)); // fails without a posted receive
        Peer[] accepting = new Peer[1];
        List<ContextState> inCallback = new ArrayList<>();
        Listener listener =
                openListener(
                        1,
                        request -> {
                            Peer far = accepting[0];
                            inCallback.add(far.rdma.state());
                            RdmaConnection _ = request.accept(NO_DATA);
                            inCallback.add(far.rdma.state());
                            far.receive(far.room(0, 64), 7);
                        });
        Peer far = listener.peer();
        accepting[0] = far;
        near.start();
        far.rdma.listen(PORT);
        RdmaConnection here = connect(near, listener);
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
        Peer.drive("the request", () -> !inCallback.isEmpty(), near, far);

        assertThat(inCallback).containsExactly(ContextState.STARTING, ContextState.RUNNING);
        assertThat(far.states)
                .as("told in the same pass of progress")
                .containsExactly(ContextState.STARTING, ContextState.RUNNING);
        for (int i = 0; i < 50; i++) { // without another pass of the listener nothing comes
            near.engine.await(Duration.ofMillis(1));
        }
        assertThat(here.state()).isEqualTo(RdmaConnection.State.CONNECTING);
        assertThat(here.peerPrivateData()).isEmpty();
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);

        awaitState(here, RdmaConnection.State.CONNECTED, near, far);
        near.send(here, near.data(0, 64), 1);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(far.next(near).userData()).isEqualTo(7);
    }

    @Test
    @Clause("rdma-186")
    void shouldStartAnInstanceThatAcceptsOutsideProgressInTheNextOne() {
        Peer near = openNear();
        Listener listener = openListener(1);
        Peer far = listener.peer();
        near.start();
        far.rdma.listen(PORT);
        RdmaConnection here = connect(near, listener);
        RdmaConnectionRequest request = listener.first(near);
        assertThat(far.rdma.state()).isEqualTo(ContextState.STARTING);

        RdmaConnection there = request.accept(NO_DATA);

        assertThat(far.rdma.state()).as("outside progress").isEqualTo(ContextState.STARTING);
        far.engine.progress();
        assertThat(far.rdma.state()).isEqualTo(ContextState.RUNNING);
        assertThat(far.states).containsExactly(ContextState.STARTING, ContextState.RUNNING);
        assertThat(far.send(there, far.data(0, 8), 1))
                .as("not established yet")
                .isEqualTo(Status.NOT_CONNECTED);
        awaitState(here, RdmaConnection.State.CONNECTED, near, far);
    }

    @Test
    @Clause({"rdma-005", "rdma-178"})
    void shouldServeSeveralListenersAndConnectionsOfEachKindInOneInstance() {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(4));
        Listener listener = openListener(4);
        Peer far = listener.peer();
        near.start();
        far.rdma.listen(PORT);
        far.rdma.listen(PORT + 1);

        RdmaConnection[] byBlobs = Peer.connectMore(near, far);
        List<RdmaConnection> here = new ArrayList<>(List.of(byBlobs[0]));
        List<RdmaConnection> there = new ArrayList<>(List.of(byBlobs[1]));
        for (int port : new int[] {PORT + 1, PORT, PORT + 1}) {
            here.add(near.rdma.connect(addressOf(far, port), NO_DATA));
            RdmaConnectionRequest request = listener.first(near);
            assertThat(request.port()).isEqualTo(port);
            there.add(request.accept(NO_DATA));
            awaitState(here.getLast(), RdmaConnection.State.CONNECTED, near, far);
            awaitState(there.getLast(), RdmaConnection.State.CONNECTED, near, far);
        }
        assertThat(Refusals.statusOf(() -> near.rdma.connect(addressOf(far, PORT), NO_DATA)))
                .isEqualTo(Status.FULL);
        for (int i = 0; i < 4; i++) {
            far.receive(far.room(i * 64L, 64), i);
            near.fill(0, 64, i);
            near.send(here.get(i), near.data(0, 64), i);
            assertThat(far.next(near).connection()).isSameAs(there.get(i));
            assertThat(far.mismatch(i * 64L, 64, i)).isEqualTo(-1);
            assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        }
    }

    /** What the peer grants is not known before its answer. */
    @Test
    void shouldAnswerNotConnectedForEachTaskBeforeTheListenerAnswers() {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(2));
        Listener listener = openListener(2);
        Peer far = listener.peer();
        near.start();
        far.rdma.listen(PORT);
        RdmaConnection _ = established(near, listener)[0]; // tasks are allocated in RUNNING
        RdmaConnection here = connect(near, listener);
        RdmaConnectionRequest _ = listener.first(near);
        Mmap remote = near.importRdma(far);
        RemoteSyncEvent event = near.remoteEvent(far, far.event());

        assertThat(here.state()).isEqualTo(RdmaConnection.State.CONNECTING);
        List<Status> refusals =
                List.of(
                        near.send(here, near.data(0, 8), 1),
                        near.sendImmediate(here, near.data(0, 8), 1, 2),
                        near.read(here, near.inventory.bufByData(remote, 0, 8), near.room(0, 8), 3),
                        near.write(
                                here,
                                near.data(0, 8),
                                near.inventory.bufByAddress(remote, 0, 8),
                                4),
                        near.writeImmediate(
                                here,
                                near.data(0, 8),
                                near.inventory.bufByAddress(remote, 0, 8),
                                1,
                                5),
                        near.compareAndSwap(
                                here,
                                near.inventory.bufByAddress(remote, 0, 8),
                                near.room(0, 8),
                                0,
                                1,
                                6),
                        near.fetchAndAdd(
                                here,
                                near.inventory.bufByAddress(remote, 0, 8),
                                near.room(0, 8),
                                1,
                                7),
                        near.getEvent(here, event, near.room(0, 8), 8),
                        near.setEvent(here, event, near.data(0, 8), 9),
                        near.addEvent(here, event, near.room(0, 8), 1, 10));
        assertThat(refusals).containsOnly(Status.NOT_CONNECTED);
    }

    // ---- failures that leave the context as it is ----

    @Test
    @Clause("rdma-001")
    void shouldRefuseAnAddressThatNoProviderReaches() {
        Peer near = openNear();
        near.start();
        for (RdmaAddress address :
                List.of(
                        RdmaAddress.of(RdmaAddress.Type.IPV4, "192.0.2.1", PORT),
                        RdmaAddress.of(RdmaAddress.Type.IPV6, "2001:db8::1", PORT),
                        RdmaAddress.of(RdmaAddress.Type.GID, "::ffff:192.0.2.1", PORT))) {
            assertThat(Refusals.statusOf(() -> near.rdma.connect(address, NO_DATA)))
                    .as("%s, another network", address)
                    .isEqualTo(Status.NOT_SUPPORTED);
        }
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
        near.rdma.exportConnection(); // the only one is still free
    }

    @Test
    void shouldFindNoListenerAndConnectWhenThereIsOne() {
        Peer near = openNear();
        Listener listener = openListener(1);
        Peer far = listener.peer();
        near.start();
        for (int i = 0; i < 2; i++) {
            RdmaConnection failed = connect(near, listener);
            awaitState(failed, RdmaConnection.State.FAILED, near);
            assertThat(failed.failure()).isEqualTo(Status.NOT_FOUND);
            assertThat(failed.failureReason())
                    .contains("address=" + far.device.info().ipv4().getHostAddress())
                    .contains("port=" + PORT);
            assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
            assertThat(near.rdma.failure()).isNull();
        }
        Duration instant = Duration.ofMillis(1);
        assertThatThrownBy(() -> near.engine.runUntil(() -> false, instant, near.rdma))
                .hasMessageContaining("awaited=a connection, lastFailure=NOT_FOUND: ");

        far.rdma.listen(PORT);
        established(near, listener);

        assertThat(near.states).containsExactly(ContextState.STARTING, ContextState.RUNNING);
        assertThat(near.connectionStates)
                .containsExactly(
                        RdmaConnection.State.FAILED,
                        RdmaConnection.State.FAILED,
                        RdmaConnection.State.CONNECTED);
    }

    // ---- the wait for the start ----

    @Test
    void shouldEndTheStartOfEachSideWhenTheConnectionIsEstablished() {
        List<RdmaConnection> accepted = new ArrayList<>();
        Listener listener = openListener(2, request -> accepted.add(request.accept(NO_DATA)));
        Peer far = listener.peer();
        far.rdma.listen(PORT);
        RdmaAddress address = addressOf(far, PORT);
        CompletableFuture<List<Object>> here = new CompletableFuture<>();
        CountDownLatch ended = new CountDownLatch(1);
        Thread peer =
                Thread.ofPlatform()
                        .start(() -> {
                            try (Peer near =
                                    Peer.open(environment(), folder(), environment().nearSide())) {
                                near.start();
                                RdmaConnection connection = near.rdma.connect(address, NO_DATA);
                                near.engine.start(near.rdma, Patience.LIMIT);
                                here.complete(
                                        List.of(
                                                connection.state(),
                                                near.rdma.state(),
                                                near.send(connection, near.data(0, 8), 1)));
                                ended.await();
                                near.stop();
                            } catch (Exception | Error e) {
                                here.completeExceptionally(e);
                            }
                        });
        try {
            far.engine.start(far.rdma, Patience.LIMIT);

            RdmaConnection there = accepted.getFirst();
            assertThat(there.state()).isEqualTo(RdmaConnection.State.CONNECTED);
            assertThat(far.send(there, far.data(0, 8), 1)).isEqualTo(Status.SUCCESS);
            assertThat(here.orTimeout(Patience.DEADLINE.toSeconds(), TimeUnit.SECONDS).join())
                    .containsExactly(
                            RdmaConnection.State.CONNECTED, ContextState.RUNNING, Status.SUCCESS);
        } finally {
            ended.countDown();
            join(peer);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldFailTheStartAtOnceWhereNothingListensAndStartWithTheNextAttempt() {
        Peer near = openNear();
        Listener listener = openListener(1);
        Peer far = listener.peer();
        near.start();
        RdmaConnection missed = connect(near, listener);

        DpuException thrown = startFailure(near);

        assertThat(thrown.status()).isEqualTo(Status.NOT_FOUND);
        assertThat(thrown)
                .hasMessageStartingWith("connection was not established: context=" + near.rdma)
                .hasMessageContaining("state=STARTING, connection=" + missed.id() + ", reason=")
                .hasMessageContaining(missed.failureReason());
        assertThat(near.states).containsExactly(ContextState.STARTING);
        assertThat(near.rdma.failure()).isNull();
        assertThat(startFailure(near).status())
                .as("nothing else is begun")
                .isEqualTo(missed.failure());

        far.rdma.listen(PORT);
        RdmaConnection here = connect(near, listener);
        assertThat(
                        catchThrowableOfType(
                                DpuException.class,
                                () -> near.engine.start(near.rdma, Duration.ofMillis(1))))
                .as("the listener does not answer yet")
                .hasMessageContaining("awaited=answer of the listener at ")
                .extracting(DpuException::status)
                .isEqualTo(Status.TIME_OUT);
        listener.first(near).accept(NO_DATA);
        awaitState(here, RdmaConnection.State.CONNECTED, near, far);
        near.engine.start(near.rdma, Duration.ZERO);
    }

    private static DpuException startFailure(Peer peer) {
        return catchThrowableOfType(
                DpuException.class, () -> peer.engine.start(peer.rdma, Patience.LIMIT));
    }

    private static @Nullable Status shortStart(Peer peer) {
        try {
            peer.engine.start(peer.rdma, Duration.ofMillis(1));
            return null;
        } catch (DpuException e) {
            return e.status();
        }
    }

    @Test
    void shouldGoOnWithTheStartOfAListenerWhosePeerGivesUp() {
        Listener listener = openListener(1);
        Peer far = listener.peer();
        far.rdma.listen(PORT);
        Peer near = openNear();
        near.start();
        RdmaConnection given = connect(near, listener);
        RdmaConnectionRequest request = listener.first(near);
        environment().hold(); // what the near side says to the acceptance
        RdmaConnection there = request.accept(NO_DATA);
        assertThat(
                        catchThrowableOfType(
                                DpuException.class,
                                () -> far.engine.start(far.rdma, Duration.ofMillis(1))))
                .hasMessageContaining("state=RUNNING")
                .hasMessageContaining("awaited=progress of the peer, connection=" + there.id())
                .extracting(DpuException::status)
                .isEqualTo(Status.TIME_OUT);
        given.disconnect();
        environment().release();

        Await.until(
                "the listener notices the end of its peer",
                () -> {
                    assertThat(shortStart(far)).isEqualTo(Status.TIME_OUT);
                    return there.state() == RdmaConnection.State.FAILED;
                });
        assertThat(
                        catchThrowableOfType(
                                DpuException.class,
                                () -> far.engine.start(far.rdma, Duration.ofMillis(1))))
                .hasMessageContaining("awaited=a request that is accepted, ports=[" + PORT + "]")
                .hasMessageContaining("lastFailure=" + there.failure());
        assertThat(far.rdma.state()).isEqualTo(ContextState.RUNNING);
        assertThat(far.rdma.failure()).isNull();
        established(near, listener);
        far.engine.start(far.rdma, Duration.ZERO); // with the next peer
    }

    @Test
    void shouldWaitForAnyOfSeveralConnectionsAndFailWithTheLastOne() {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(3));
        Listener listener = openListener(3);
        Peer far = listener.peer();
        near.start();
        RdmaConnection first = near.rdma.connect(addressOf(far, PORT), NO_DATA);
        RdmaConnection second = near.rdma.connect(addressOf(far, PORT + 1), NO_DATA);

        assertThat(startFailure(near).status()).isEqualTo(Status.NOT_FOUND);
        assertThat(List.of(first.state(), second.state()))
                .containsOnly(RdmaConnection.State.FAILED);

        far.rdma.listen(PORT);
        RdmaConnection answered = connect(near, listener);
        RdmaConnection unanswered = connect(near, listener);
        listener.first(near).accept(NO_DATA);
        awaitState(answered, RdmaConnection.State.CONNECTED, near, far);
        near.engine.start(near.rdma, Duration.ZERO); // RUNNING, with several connections
        assertThat(unanswered.state()).isEqualTo(RdmaConnection.State.CONNECTING);
    }

    @Test
    void shouldTellARejectedPeerWhyAndLetItTryAgain() {
        Peer near = openNear();
        Listener listener = openListener(1);
        Peer far = listener.peer();
        near.start();
        far.rdma.listen(PORT);
        RdmaConnection rejected = connect(near, listener);

        RdmaConnectionRequest request = listener.first(near);
        request.reject(numbered(Rdma.MAX_REJECT_DATA_BYTES));
        awaitState(rejected, RdmaConnection.State.FAILED, near, far);

        assertThat(request.isPending()).isFalse();
        assertThat(rejected.failure()).isEqualTo(Status.CONNECTION_ABORTED);
        assertThat(rejected.failureReason())
                .contains("address=" + far.device.info().ipv4().getHostAddress())
                .contains("port=" + PORT)
                .contains("rejected")
                .contains("expected=see RdmaConnection.peerPrivateData")
                .doesNotContain("not reached");
        assertThat(rejected.peerPrivateData()).isEqualTo(numbered(Rdma.MAX_REJECT_DATA_BYTES));
        for (Peer peer : List.of(near, far)) {
            assertThat(peer.rdma.state()).isEqualTo(ContextState.STARTING);
            assertThat(peer.states).containsExactly(ContextState.STARTING);
        }
        established(near, listener);
    }

    @Test
    @Clause("rdma-038")
    void shouldEndARequestThatIsNotAnsweredWithinThePeersTimeout() {
        Listener listener = openListener(1);
        Peer far = listener.peer();
        far.rdma.listen(PORT);
        Duration timeout = Duration.ofMillis(200);
        Peer hasty = openHasty(timeout);
        RdmaConnection requested = requestedOrFailed(hasty, listener);
        while (listener.requests().isEmpty()) { // it was over before the listener saw the request
            timeout = timeout.multipliedBy(2);
            hasty = openHasty(timeout);
            requested = requestedOrFailed(hasty, listener);
        }
        Peer near = hasty;
        RdmaConnection unanswered = requested;
        RdmaConnectionRequest request = listener.first(near);

        awaitState(unanswered, RdmaConnection.State.FAILED, near, far);
        Peer.drive("the end of the request", () -> !request.isPending(), near, far);

        assertThat(unanswered.failure()).isEqualTo(Status.TIME_OUT);
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
        assertThat(Refusals.statusOf(() -> request.accept(NO_DATA)))
                .isEqualTo(Status.CONNECTION_RESET);
        assertThat(Refusals.statusOf(() -> request.reject(NO_DATA)))
                .isEqualTo(Status.CONNECTION_RESET);
        assertThat(far.rdma.state()).isEqualTo(ContextState.STARTING);
        Peer patient = openNear();
        patient.start();
        established(patient, listener); // its place is free
    }

    private Peer openHasty(Duration timeout) {
        Peer peer = openConfigured(rdma -> rdma.setConnectTimeout(timeout));
        peer.start();
        return peer;
    }

    /** Connects, until the request was reported or its time is over. */
    private static RdmaConnection requestedOrFailed(Peer near, Listener listener) {
        RdmaConnection here = connect(near, listener);
        Peer.drive(
                "a request",
                () -> !listener.requests().isEmpty() || here.state() == RdmaConnection.State.FAILED,
                near,
                listener.peer());
        return here;
    }

    @Test
    void shouldRejectRequestsBeyondTheCapacityOfTheInstance() {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(5));
        Listener listener = openListener(2);
        Peer far = listener.peer();
        near.start();
        far.rdma.listen(PORT);
        RdmaConnection[] first = established(near, listener);
        RdmaConnection second = connect(near, listener);
        RdmaConnectionRequest waiting = listener.first(near);

        RdmaConnection third = connect(near, listener);
        awaitState(third, RdmaConnection.State.FAILED, near, far);

        assertThat(third.failure()).isEqualTo(Status.CONNECTION_ABORTED);
        assertThat(third.failureReason()).contains("maxConnections=2");
        assertThat(third.peerPrivateData()).isEmpty();
        assertThat(listener.requests()).isEmpty();
        assertThat(waiting.isPending()).isTrue();
        RdmaConnection there = waiting.accept(NO_DATA);
        awaitState(second, RdmaConnection.State.CONNECTED, near, far);
        awaitState(there, RdmaConnection.State.CONNECTED, near, far);

        first[1].disconnect();
        awaitState(first[0], RdmaConnection.State.DISCONNECTED, near, far);
        awaitState(first[1], RdmaConnection.State.DISCONNECTED, near, far);
        established(near, listener); // a place is free again
    }

    @Test
    void shouldAnswerFullWhenTheOnlyPlaceWasExportedMeanwhile() {
        Peer near = openNear();
        Listener listener = openListener(1);
        Peer far = listener.peer();
        near.start();
        far.rdma.listen(PORT);
        RdmaConnection here = connect(near, listener);
        RdmaConnectionRequest request = listener.first(near);
        RdmaConnection exported = far.rdma.exportConnection();

        assertThat(Refusals.statusOf(() -> request.accept(NO_DATA))).isEqualTo(Status.FULL);
        assertThat(request.isPending()).isTrue();
        exported.disconnect();
        RdmaConnection _ = request.accept(NO_DATA);
        awaitState(here, RdmaConnection.State.CONNECTED, near, far);
    }

    // ---- ports ----

    @Test
    void shouldNameTheHolderOfAPortInUse() {
        Listener listener = openListener(1);
        Listener other = openListener(1);
        Peer elsewhere = openNear();
        listener.peer().rdma.listen(PORT);

        assertThat(refusalOf(() -> other.peer().rdma.listen(PORT)))
                .startsWith(Status.ALREADY_EXIST + ": ")
                .contains("port=" + PORT)
                .contains("holder=process " + ProcessHandle.current().pid());
        assertThat(refusalOf(() -> listener.peer().rdma.listen(PORT)))
                .startsWith(Status.ALREADY_EXIST + ": ")
                .contains("holder=" + listener.peer().rdma);
        assertThat(Refusals.statusOf(() -> other.peer().rdma.stopListening(PORT)))
                .isEqualTo(Status.NOT_FOUND);

        elsewhere.rdma.setConnectionRequestCallback(request -> {});
        elsewhere.start();
        elsewhere.rdma.listen(PORT); // a port of another device
        listener.peer().rdma.stopListening(PORT);
        other.peer().rdma.listen(PORT);
        Peer near = openNear();
        near.start();
        established(near, other);
    }

    private static String refusalOf(Runnable call) {
        try {
            call.run();
            return "none";
        } catch (DpuException e) {
            return e.status() + ": " + e.getMessage();
        }
    }

    @Test
    void shouldAnswerKnownRequestsAfterItHasStoppedListening() {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(2));
        Listener listener = openListener(2);
        Peer far = listener.peer();
        near.start();
        far.rdma.listen(PORT);
        RdmaConnection here = connect(near, listener);
        RdmaConnectionRequest request = listener.first(near);

        far.rdma.stopListening(PORT);
        RdmaConnection late = connect(near, listener);
        awaitState(late, RdmaConnection.State.FAILED, near, far);
        assertThat(late.failure()).isEqualTo(Status.NOT_FOUND);
        RdmaConnection there = request.accept(NO_DATA);
        awaitState(here, RdmaConnection.State.CONNECTED, near, far);
        awaitState(there, RdmaConnection.State.CONNECTED, near, far);
    }

    @Test
    @Clause("rdma-050")
    void shouldListenAndConnectFromStartingOnAndNotInIdle() {
        Peer near = openNear();
        Listener listener = openListener(1);
        Peer far = listener.peer();
        RdmaAddress address = addressOf(far, PORT);
        assertThat(Refusals.statusOf(() -> near.rdma.connect(address, NO_DATA)))
                .isEqualTo(Status.BAD_STATE);
        far.stop();
        assertThat(far.rdma.state()).isEqualTo(ContextState.IDLE);
        assertThat(Refusals.statusOf(() -> far.rdma.listen(PORT))).isEqualTo(Status.BAD_STATE);
        assertThat(Refusals.statusOf(() -> far.rdma.stopListening(PORT)))
                .isEqualTo(Status.BAD_STATE);

        far.start();
        near.start();
        assertThat(far.rdma.state()).isEqualTo(ContextState.STARTING);
        far.rdma.listen(PORT);
        RdmaConnection here = near.rdma.connect(address, NO_DATA);
        RdmaConnectionRequest request = listener.first(near);
        far.stop();
        assertThat(request.isPending()).isFalse();
        assertThat(Refusals.statusOf(() -> request.accept(NO_DATA))).isEqualTo(Status.BAD_STATE);
        awaitState(here, RdmaConnection.State.FAILED, near);
        assertThat(here.failure()).isEqualTo(Status.CONNECTION_ABORTED);
    }

    @Test
    void shouldRefuseIllegalPortsAndDataAndAListenerWithoutItsCallback() {
        Peer near = openNear();
        Listener listener = openListener(1);
        Peer far = listener.peer();
        near.start();
        assertThat(Refusals.statusOf(() -> near.rdma.listen(PORT)))
                .as("no callback")
                .isEqualTo(Status.BAD_STATE);
        for (int port : new int[] {Integer.MIN_VALUE, -1, 0, 65_536, Integer.MAX_VALUE}) {
            assertThat(Refusals.statusOf(() -> far.rdma.listen(port)))
                    .isEqualTo(Status.INVALID_VALUE);
        }
        far.rdma.listen(1);
        far.rdma.listen(65_535);
        far.rdma.listen(PORT);
        byte[] tooMuch = new byte[Rdma.MAX_CONNECT_DATA_BYTES + 1];
        assertThat(Refusals.statusOf(() -> near.rdma.connect(addressOf(far, PORT), tooMuch)))
                .isEqualTo(Status.INVALID_VALUE);
        RdmaConnection here = connect(near, listener);
        RdmaConnectionRequest request = listener.first(near);
        assertThat(
                        Refusals.statusOf(
                                () -> request.accept(new byte[Rdma.MAX_ACCEPT_DATA_BYTES + 1])))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(
                        Refusals.statusOf(
                                () -> request.reject(new byte[Rdma.MAX_REJECT_DATA_BYTES + 1])))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(request.isPending()).isTrue();

        RdmaConnection _ = request.accept(NO_DATA);
        assertThat(Refusals.statusOf(() -> request.accept(NO_DATA))).isEqualTo(Status.BAD_STATE);
        assertThat(Refusals.statusOf(() -> request.reject(NO_DATA))).isEqualTo(Status.BAD_STATE);
        awaitState(here, RdmaConnection.State.CONNECTED, near, far);
    }

    // ---- ends ----

    @Test
    @Clause("rdma-178")
    void shouldEndItsRequestWhenItDisconnectsOrStops() {
        Listener listener = openListener(2);
        listener.peer().rdma.listen(PORT);
        // Beyond the waits for the request and for its end: only the withdrawal ends it.
        Duration timeout = Patience.LIMIT.multipliedBy(2);
        Peer near = openConfigured(rdma -> rdma.setConnectTimeout(timeout));
        near.start();
        RdmaConnection disconnected = connect(near, listener);
        RdmaConnectionRequest first = listener.first(near);
        disconnected.disconnect();
        assertThat(disconnected.state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
        Peer.drive("its end", () -> !first.isPending(), near, listener.peer());

        RdmaConnection stopped = connect(near, listener);
        RdmaConnectionRequest second = listener.first(near);
        near.stop();
        assertThat(stopped.state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
        Peer.drive("its end", () -> !second.isPending(), listener.peer());
        assertThat(listener.peer().rdma.state()).isEqualTo(ContextState.STARTING);
    }

    /** End of a listener that has a request and has not reported it. */
    enum ListenerEnd {
        STOPS_LISTENING,
        STOPS,
        CLOSES
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseARequestThatHasArrivedAndWasNotReportedWhenItEnds(ListenerEnd end) {
        Listener listener = openListener(1);
        Peer far = listener.peer();
        far.rdma.listen(PORT);
        // Beyond the waits of this test: only a refusal ends the request.
        Peer near = openConfigured(rdma -> rdma.setConnectTimeout(Patience.LIMIT.multipliedBy(2)));
        near.start();
        while (far.engine.progress()) {} // until nothing but a request can be notified
        far.engine.requestNotification();
        RdmaConnection here = connect(near, listener);
        Await.byStep( // the near side may have to find first which provider reaches the listener
                "the request has arrived",
                () -> far.engine.awaitNotification(Duration.ofMillis(1)),
                near.engine::progress);
        far.engine.clearNotification();

        switch (end) {
            case STOPS_LISTENING -> far.rdma.stopListening(PORT);
            case STOPS -> far.stop();
            case CLOSES -> far.rdma.close();
        }
        Peer.drive(
                "its end",
                () -> here.state() == RdmaConnection.State.FAILED || !listener.requests().isEmpty(),
                near,
                far);

        assertThat(listener.requests()).isEmpty();
        assertThat(here.failure()).isEqualTo(Status.CONNECTION_ABORTED);
        assertThat(here.failureReason()).contains("listener");
        assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
    }

    @Test
    void shouldGoOnListeningWhenAPeerGivesUpWhatWasAccepted() {
        Listener listener = openListener(1);
        Peer far = listener.peer();
        far.rdma.listen(PORT);
        Peer near = openNear();
        near.start();
        RdmaConnection given = connect(near, listener);
        RdmaConnectionRequest request = listener.first(near);
        RdmaConnection there = request.accept(NO_DATA);
        given.disconnect();

        awaitState(there, RdmaConnection.State.FAILED, near, far);

        assertThat(far.rdma.state()).isEqualTo(ContextState.RUNNING);
        assertThat(far.rdma.failure()).isNull();
        established(near, listener);
    }

    @Test
    @Clause("rdma-069")
    void shouldStopAnInstanceForOneWhoseConnectionByAddressFailsOnceItIsEstablished() {
        Listener listener = openListener(1);
        Peer far = listener.peer();
        far.rdma.listen(PORT);
        Peer near = openNear();
        near.start();
        RdmaConnection[] ends = established(near, listener);

        far.receive(far.room(0, 8), 1);
        near.send(ends[0], near.data(0, 64), 2); // larger than its receive
        Peer.drive(
                "both stop",
                () ->
                        near.rdma.state() == ContextState.IDLE
                                && far.rdma.state() == ContextState.IDLE,
                near,
                far);

        assertThat(ends[0].failure()).isEqualTo(Status.IO_FAILED);
        assertThat(ends[1].failure()).isEqualTo(Status.TOO_BIG);
        far.start();
        far.rdma.listen(PORT); // it was released with the stop
    }
}
