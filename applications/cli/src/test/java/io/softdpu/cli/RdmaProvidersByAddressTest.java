package io.softdpu.cli;

import static io.softdpu.cli.RdmaParty.NO_DATA;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.net.DatagramSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Connections by address between instances that may use both providers. */
class RdmaProvidersByAddressTest {
    private static final String HOLDER = "holder=process " + ProcessHandle.current().pid();

    @TempDir Path folder;

    /** Fabric folders of the sides, which decide the provider that finds the listener. */
    private enum Folders {
        SHARED("shm"),
        OWN("roce");

        private final String provider;

        Folders(String provider) {
            this.provider = provider;
        }
    }

    private Path folderOf(Folders folders, Side side) throws IOException {
        return folders == Folders.SHARED
                ? folder
                : Files.createDirectories(folder.resolve(side.id()));
    }

    private RdmaParty target(Folders folders) throws IOException {
        return new RdmaParty(folderOf(folders, Side.TARGET), Side.TARGET);
    }

    private RdmaParty card(Folders folders) throws IOException {
        return new RdmaParty(folderOf(folders, Side.DPU), Side.DPU);
    }

    private static RdmaConnection[] establish(RdmaParty near, RdmaParty far) {
        RdmaConnection here = near.connect(far);
        RdmaConnection there = far.next(near).accept(NO_DATA);
        RdmaParty.until(here, RdmaConnection.State.CONNECTED, near, far);
        RdmaParty.until(there, RdmaConnection.State.CONNECTED, near, far);
        return new RdmaConnection[] {here, there};
    }

    private static void assertNothingIsOpenForTheNetwork() throws IOException {
        assertThat(RdmaParty.isPortFree(RdmaParty.TARGET)).isTrue();
        assertThat(RdmaParty.isPortFree(RdmaParty.DPU)).isTrue();
        assertThat(RdmaParty.threadsOfNics()).isEmpty();
    }

    @Test
    void shouldPreferSharedMemoryAndEndWhatTheNetworkHadForTheListener() throws IOException {
        try (RdmaParty far = card(Folders.SHARED).listening();
                RdmaParty near = target(Folders.SHARED).started()) {
            assertThat(RdmaParty.isPortFree(RdmaParty.DPU)).as("it listens there").isFalse();
            RdmaConnection here = near.connect(far);
            RdmaConnectionRequest request = far.next(near);
            assertThat(RdmaParty.isPortFree(RdmaParty.TARGET)).as("without need").isTrue();

            RdmaConnection there = request.accept(NO_DATA);
            RdmaParty.until(here, RdmaConnection.State.CONNECTED, near, far);
            RdmaParty.until(there, RdmaConnection.State.CONNECTED, near, far);

            assertThat(List.of(here.provider(), there.provider())).containsOnly("shm");
            assertNothingIsOpenForTheNetwork();
            assertThat(far.requested).isEqualTo(1);
            assertThat(near.states).containsExactly(RdmaConnection.State.CONNECTED);
            assertThat(far.states).containsExactly(RdmaConnection.State.CONNECTED);
        }
    }

    @Test
    void shouldConnectOverTheNetworkWhereSharedMemoryFindsNothing() throws IOException {
        try (RdmaParty far = card(Folders.OWN).listening();
                RdmaParty near = target(Folders.OWN).started()) {
            RdmaConnection[] ends = establish(near, far);

            assertThat(List.of(ends[0].provider(), ends[1].provider())).containsOnly("roce");
            assertThat(far.requested).isEqualTo(1);
            assertThat(near.states).containsExactly(RdmaConnection.State.CONNECTED);
            assertThat(far.states).containsExactly(RdmaConnection.State.CONNECTED);
            ends[0].disconnect();
            RdmaParty.until(ends[1], RdmaConnection.State.DISCONNECTED, near, far);
        }
        assertNothingIsOpenForTheNetwork();
    }

    @ParameterizedTest
    @CsvSource({"shm, auto, shm", "roce, auto, roce", "auto, shm, shm", "auto, roce, roce"})
    void shouldFindTheListenerByTheProviderThatOneProgramNames(
            String here, String there, String used) throws IOException {
        try (RdmaParty far = card(Folders.SHARED);
                RdmaParty near = target(Folders.SHARED)) {
            near.rdma.setProvider(here);
            far.rdma.setProvider(there);
            far.listening();
            near.rdma.start();

            RdmaConnection[] ends = establish(near, far);

            assertThat(List.of(ends[0].provider(), ends[1].provider())).containsOnly(used);
        }
        assertNothingIsOpenForTheNetwork();
    }

    @Test
    void shouldNotFindAListenerOfTheOtherProvider() throws IOException {
        try (RdmaParty far = card(Folders.SHARED);
                RdmaParty near = target(Folders.SHARED)) {
            near.rdma.setProvider("shm");
            far.rdma.setProvider("roce");
            far.listening();
            near.rdma.start();
            RdmaConnection failed = near.connect(far);
            RdmaParty.until(failed, RdmaConnection.State.FAILED, near, far);

            assertThat(failed.failure()).isEqualTo(Status.NOT_FOUND);
            assertThat(far.requested).isZero();
        }
    }

    /** Engines that sleep are woken for each provider; neither side polls. */
    @ParameterizedTest
    @EnumSource
    void shouldConnectWhileBothSidesSleep(Folders folders) throws Exception {
        CompletableFuture<String> provider = new CompletableFuture<>();
        CountDownLatch done = new CountDownLatch(1);
        try (RdmaParty far = card(folders)) {
            far.rdma.setConnectionRequestCallback(request -> {
                RdmaConnection _ = request.accept(NO_DATA);
            });
            far.listening();
            Thread peer =
                    Thread.ofPlatform()
                            .start(() -> {
                                try (RdmaParty near = target(folders).started()) {
                                    RdmaConnection here = near.connect(far);
                                    near.engine.start(near.rdma, Patience.LIMIT);
                                    provider.complete(here.provider());
                                    done.await();
                                } catch (Exception | Error e) {
                                    provider.completeExceptionally(e);
                                }
                            });
            try {
                far.engine.start(far.rdma, Patience.LIMIT);
                assertThat(provider.get(Patience.SECONDS, TimeUnit.SECONDS))
                        .isEqualTo(folders.provider);
            } finally {
                done.countDown();
                peer.join();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNameWhatEachProviderFoundWhereNothingListensAndConnectLater(Folders folders)
            throws IOException {
        try (RdmaParty far = card(folders);
                RdmaParty near = target(folders).started()) {
            RdmaConnection failed = near.connect(far);
            RdmaParty.until(failed, RdmaConnection.State.FAILED, near);

            assertThat(failed.failure()).isEqualTo(Status.NOT_FOUND);
            assertThat(failed.failureReason())
                    .contains("tried=[shm: NOT_FOUND: ")
                    .contains(", roce: NOT_FOUND: ")
                    .contains(RdmaParty.DPU);
            assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);

            far.listening();
            assertThat(establish(near, far)[0].provider()).isEqualTo(folders.provider);
            assertThat(near.states)
                    .containsExactly(RdmaConnection.State.FAILED, RdmaConnection.State.CONNECTED);
        }
    }

    @Test
    void shouldListenWithSharedMemoryAloneWhileThePortOfTheNetworkIsHeld() throws IOException {
        try (DatagramSocket held = RdmaParty.holdPort(RdmaParty.DPU);
                RdmaParty far = card(Folders.SHARED).listening();
                RdmaParty near = target(Folders.SHARED).started()) {
            assertThat(held.isBound()).isTrue();
            Duration instant = Duration.ofMillis(1);
            assertThatThrownBy(() -> far.engine.start(far.rdma, instant))
                    .hasMessageContaining("leftOut=[roce: ALREADY_EXIST: ")
                    .hasMessageContaining(HOLDER);

            assertThat(establish(near, far)[0].provider()).isEqualTo("shm");
        }
        assertNothingIsOpenForTheNetwork();
    }

    @Test
    void shouldNameTheHolderOfThePortWithoutWhichTheNetworkCannotConnect() throws IOException {
        try (RdmaParty far = card(Folders.OWN).listening();
                RdmaParty near = target(Folders.OWN).started()) {
            try (DatagramSocket held = RdmaParty.holdPort(RdmaParty.TARGET)) {
                assertThat(held.isBound()).isTrue();
                RdmaConnection failed = near.connect(far);
                RdmaParty.until(failed, RdmaConnection.State.FAILED, near);
                assertThat(failed.failure()).isEqualTo(Status.ALREADY_EXIST);
                assertThat(failed.failureReason())
                        .contains("tried=[shm: NOT_FOUND: ")
                        .contains(", roce: ALREADY_EXIST: ")
                        .contains(HOLDER);
            }
            assertThat(far.requested).isZero();
            assertThat(establish(near, far)[0].provider()).isEqualTo("roce");
        }
    }

    /** A refusal is an answer: no other provider is asked. */
    @ParameterizedTest
    @EnumSource
    void shouldTellThePeerOfARejectionOnceAndLetItTryAgain(Folders folders) throws IOException {
        try (RdmaParty far = card(folders).listening();
                RdmaParty near = target(folders).started()) {
            RdmaConnection rejected = near.connect(far);
            far.next(near).reject(new byte[] {7});
            RdmaParty.until(rejected, RdmaConnection.State.FAILED, near, far);

            assertThat(rejected.failure()).isEqualTo(Status.CONNECTION_ABORTED);
            assertThat(rejected.peerPrivateData()).containsExactly(7);
            assertThat(far.requested).isEqualTo(1);
            assertThat(establish(near, far)[0].provider()).isEqualTo(folders.provider);
            assertThat(far.requested).isEqualTo(2);
            assertThat(near.states)
                    .containsExactly(RdmaConnection.State.FAILED, RdmaConnection.State.CONNECTED);
        }
    }

    /** End of a listener that has a request. */
    private enum ListenerEnd {
        STOPS,
        CLOSES,
        STOPS_LISTENING
    }

    /** Also where it has not looked at the request. */
    @ParameterizedTest
    @EnumSource
    void shouldTellThePeerWhoseListenerEndsBeforeItAnswers(Folders folders) throws IOException {
        for (ListenerEnd end : ListenerEnd.values()) {
            try (RdmaParty far = card(folders).listening();
                    RdmaParty near = target(folders).started()) {
                RdmaConnection waiting = near.connect(far);
                RdmaConnectionRequest request = far.next(near);
                switch (end) {
                    case STOPS -> far.stop();
                    case CLOSES -> far.rdma.close();
                    case STOPS_LISTENING -> { // which leaves the request
                        far.stopListening();
                        assertThat(request.isPending()).isTrue();
                        request.reject(NO_DATA);
                    }
                }
                RdmaParty.until(waiting, RdmaConnection.State.FAILED, near, far);

                assertThat(waiting.failure()).as("%s", end).isEqualTo(Status.CONNECTION_ABORTED);
                assertThat(request.isPending()).isFalse();
                assertThat(far.requested).isEqualTo(1);
                assertThat(near.rdma.state()).isEqualTo(ContextState.STARTING);
            }
            assertNothingIsOpenForTheNetwork();
        }
    }

    /** End of an attempt by a side. */
    private enum Withdrawal {
        DISCONNECTS,
        STOPS,
        CLOSES
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndTheRequestOfASideThatGivesUp(Folders folders) throws IOException {
        for (Withdrawal withdrawal : Withdrawal.values()) {
            try (RdmaParty far = card(folders).listening();
                    RdmaParty near = target(folders).started()) {
                RdmaConnection given = near.connect(far);
                RdmaConnectionRequest request = far.next(near);
                withdraw(withdrawal, near, given);

                RdmaParty.until("the end of the request", () -> !request.isPending(), far);

                assertThat(far.requested).isEqualTo(1);
                assertThat(far.rdma.state()).isEqualTo(ContextState.STARTING);
            }
            assertNothingIsOpenForTheNetwork();
        }
    }

    /** After each number of passes: before shared memory has found nothing, between, and later. */
    @ParameterizedTest
    @EnumSource
    void shouldGiveUpAtAnyPointOfAConnect(Withdrawal withdrawal) throws IOException {
        try (RdmaParty far = card(Folders.OWN).listening()) {
            LeakCheck leaks = LeakCheck.begin(folder);
            for (int passes = 0; passes < 6; passes++) {
                try (RdmaParty near = target(Folders.OWN).started()) {
                    RdmaConnection given = near.connect(far);
                    for (int i = 0; i < passes; i++) {
                        near.engine.await(Duration.ofMillis(1));
                        near.engine.progress();
                    }
                    withdraw(withdrawal, near, given);
                    assertThat(given.state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
                }
                RdmaParty.until(
                        "no request waits",
                        () -> far.requests.stream().noneMatch(RdmaConnectionRequest::isPending),
                        far);
            }
            RdmaParty.until("nothing is left", leaks::isClean, far);
            far.requests.clear();
            try (RdmaParty near = target(Folders.OWN).started()) {
                RdmaConnection here = near.connect(far);
                RdmaConnectionRequest request = far.next(near);
                while (!request.isPending()) { // of one that had given up
                    request = far.next(near);
                }
                request.accept(NO_DATA);
                RdmaParty.until(here, RdmaConnection.State.CONNECTED, near, far);
            }
        }
    }

    private static void withdraw(Withdrawal withdrawal, RdmaParty near, RdmaConnection given) {
        switch (withdrawal) {
            case DISCONNECTS -> given.disconnect();
            case STOPS -> near.stop();
            case CLOSES -> near.rdma.close();
        }
    }

    /** The first that is accepted selects the provider of the listener. */
    @ParameterizedTest
    @EnumSource
    void shouldRefuseTheRequestsOfTheProviderThatIsNotSelected(Folders accepted)
            throws IOException {
        try (RdmaParty far = new RdmaParty(folder, Side.DPU);
                RdmaParty here = target(Folders.SHARED);
                RdmaParty elsewhere = target(Folders.OWN)) {
            far.rdma.setMaxConnections(2);
            far.listening();
            here.rdma.start();
            RdmaConnection near = here.connect(far);
            RdmaConnectionRequest ofNear = far.next(here);
            elsewhere.rdma.start();
            RdmaConnection distant = elsewhere.connect(far);
            RdmaConnectionRequest ofDistant = far.next(here, elsewhere);

            boolean isNear = accepted == Folders.SHARED;
            RdmaConnection there = (isNear ? ofNear : ofDistant).accept(NO_DATA);
            RdmaConnection its = isNear ? near : distant;
            RdmaConnection refused = isNear ? distant : near;
            RdmaParty.until(refused, RdmaConnection.State.FAILED, far, here, elsewhere);
            RdmaParty.until(its, RdmaConnection.State.CONNECTED, far, here, elsewhere);
            RdmaParty.until(there, RdmaConnection.State.CONNECTED, far, here, elsewhere);

            assertThat(List.of(its.provider(), there.provider())).containsOnly(accepted.provider);
            assertThat(refused.failure()).isEqualTo(Status.CONNECTION_ABORTED);
            assertThat(refused.failureReason())
                    .contains("selected another provider: selected=" + accepted.provider);
            assertThat((isNear ? ofDistant : ofNear).isPending()).isFalse();
        }
        assertNothingIsOpenForTheNetwork();
    }
}
