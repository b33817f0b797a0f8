package io.softdpu.rdma.contract;

import io.softdpu.core.Status;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import java.util.Objects;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Release of the resources of a connection by address, for each kind of end; over every provider.
 */
public abstract class RdmaListenLeakContract extends RdmaListenFixture {
    private static final int ROUNDS = 3;

    /** For subclasses. */
    protected RdmaListenLeakContract() {}

    /** End of a round of the test. */
    enum Ending {
        NO_LISTENER(Status.NOT_FOUND),
        REJECTED(Status.CONNECTION_ABORTED),
        NO_ROOM(Status.CONNECTION_ABORTED),
        UNANSWERED(Status.TIME_OUT),
        GIVEN_UP(Status.SUCCESS),
        LISTENER_STOPS_LISTENING(Status.SUCCESS),
        ESTABLISHED(Status.SUCCESS);

        private final Status failure;

        Ending(Status failure) {
            this.failure = failure;
        }
    }

    @ParameterizedTest
    @EnumSource(Ending.class)
    void shouldGiveBackEachConnectionOfLongLivedInstances(Ending ending) {
        Rdma listener = start(device, 1, rdma -> {});
        Rdma connector = start(nearDevice, 1, rdma -> rdma.setConnectTimeout(timeoutOf(ending)));
        round(ending, listener, connector); // loads what is loaded once
        LeakCheck leaks = LeakCheck.begin(folder());
        for (int i = 0; i < ROUNDS; i++) {
            round(ending, listener, connector);
        }
        until("nothing is left", leaks::isClean);
    }

    private static Duration timeoutOf(Ending ending) {
        return ending == Ending.UNANSWERED ? Duration.ofMillis(200) : Patience.LIMIT;
    }

    /**
     * Connects; where the request stays unanswered, with a timeout that lets the request be
     * reported.
     */
    private RdmaConnection connect(Ending ending, Rdma connector) {
        RdmaConnection here = connector.connect(address(), NO_DATA);
        if (ending != Ending.UNANSWERED) {
            return here;
        }
        until(
                "a request",
                () -> !requests.isEmpty() || here.state() == RdmaConnection.State.FAILED);
        if (!requests.isEmpty()) {
            return here;
        }
        stop(connector);
        connector.setConnectTimeout(connector.connectTimeout().multipliedBy(2));
        connector.start();
        return connect(ending, connector);
    }

    private void round(Ending ending, Rdma listener, Rdma connector) {
        if (ending != Ending.NO_LISTENER) {
            listener.listen(PORT);
        }
        RdmaConnection taken = ending == Ending.NO_ROOM ? listener.exportConnection() : null;
        RdmaConnection here = connect(ending, connector);
        RdmaConnectionRequest request =
                ending == Ending.NO_LISTENER || ending == Ending.NO_ROOM ? null : nextRequest();
        switch (ending) {
            case REJECTED -> Objects.requireNonNull(request).reject(new byte[] {1});
            case GIVEN_UP -> here.disconnect();
            case LISTENER_STOPS_LISTENING, ESTABLISHED -> {
                if (ending == Ending.LISTENER_STOPS_LISTENING) {
                    listener.stopListening(PORT);
                }
                RdmaConnection there = Objects.requireNonNull(request).accept(NO_DATA);
                untilConnected(here, there);
                there.disconnect();
                until("the end there", () -> there.state() == RdmaConnection.State.DISCONNECTED);
            }
            default -> {}
        }
        until(
                "the end",
                () ->
                        here.state() == RdmaConnection.State.FAILED
                                || here.state() == RdmaConnection.State.DISCONNECTED);
        Assertions.assertThat(here.failure()).isEqualTo(ending.failure);
        if (request != null) {
            until("the end of the request", () -> !request.isPending());
        }
        if (taken != null) {
            taken.disconnect();
        }
        if (ending != Ending.NO_LISTENER && ending != Ending.LISTENER_STOPS_LISTENING) {
            listener.stopListening(PORT);
        }
    }
}
