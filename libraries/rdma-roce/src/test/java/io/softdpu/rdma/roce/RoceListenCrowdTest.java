package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.rdma.contract.RdmaListenFixture;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.roce.nic.NicPlaces;
import io.softdpu.rdma.roce.wire.Gid;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Listener to which many ends connect at a time, and of which a third leaves at each step. */
class RoceListenCrowdTest extends RdmaListenFixture {
    private static final int ENDS = 24;
    private static final int ENDS_PER_INSTANCE = 4;
    private static final int STEPS = 3;

    private final List<Rdma> connectors = new ArrayList<>();
    private final RdmaConnection[] here = new RdmaConnection[ENDS];
    private final RdmaConnection[] there = new RdmaConnection[ENDS];

    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }

    @Test
    void shouldFreeAllPlacesIfAThirdOfItsPeersLeavesAtEachStep() {
        listener(ENDS);
        Gid address = Gid.ofAddress(device.info().ipv4().getAddress());
        for (int i = 0; i < ENDS / ENDS_PER_INSTANCE; i++) {
            connectors.add(start(nearDevice, ENDS_PER_INSTANCE, rdma -> {}));
        }
        RdmaConnectionRequest[] asked = connectAll();

        leave(0); // before they have an answer
        until("the end of requests", () -> !isPendingOfStep(asked, 0));
        accept(asked, 1);
        leave(1); // before they have the acceptance
        accept(asked, 2);
        until("connected", () -> areAll(2, RdmaConnection.State.CONNECTED));
        leave(2);
        assertThat(NicPlaces.taken(address)).as("by those that are left").isPositive();
        until("the end of all", this::haveAllEnded);
        until("all places of the NIC are free", () -> NicPlaces.taken(address) == 0);

        RdmaConnectionRequest[] again = connectAll(); // as many as there are places
        for (int step = 0; step < STEPS; step++) {
            accept(again, step);
        }
        for (int step = 0; step < STEPS; step++) {
            int accepted = step;
            until("connected", () -> areAll(accepted, RdmaConnection.State.CONNECTED));
        }
        RdmaConnection beyond = start(nearDevice, 1, rdma -> {}).connect(address(), NO_DATA);
        until("a refusal", () -> beyond.state() == RdmaConnection.State.FAILED);
        assertThat(beyond.failureReason()).contains("maxConnections=" + ENDS);
    }

    /** Connects all at a time; the request of each, by the number in its private data. */
    private RdmaConnectionRequest[] connectAll() {
        for (int i = 0; i < ENDS; i++) {
            Rdma connector = connectors.get(i / ENDS_PER_INSTANCE);
            here[i] = connector.connect(address(), new byte[] {(byte) i});
        }
        RdmaConnectionRequest[] asked = new RdmaConnectionRequest[ENDS];
        for (int i = 0; i < ENDS; i++) {
            RdmaConnectionRequest request = nextRequest();
            asked[request.privateData()[0]] = request;
        }
        assertThat(asked).doesNotContainNull();
        return asked;
    }

    private void accept(RdmaConnectionRequest[] asked, int step) {
        for (int i = step; i < ENDS; i += STEPS) {
            there[i] = asked[i].accept(NO_DATA);
        }
    }

    private void leave(int step) {
        for (int i = step; i < ENDS; i += STEPS) {
            here[i].disconnect();
        }
    }

    private static boolean isPendingOfStep(RdmaConnectionRequest[] asked, int step) {
        for (int i = step; i < ENDS; i += STEPS) {
            if (asked[i].isPending()) {
                return true;
            }
        }
        return false;
    }

    private boolean areAll(int step, RdmaConnection.State state) {
        for (int i = step; i < ENDS; i += STEPS) {
            if (here[i].state() != state || there[i].state() != state) {
                return false;
            }
        }
        return true;
    }

    /** Whether both ends of all have ended; those that left first have none at the listener. */
    private boolean haveAllEnded() {
        for (int i = 0; i < ENDS; i++) {
            if (!hasEnded(here[i]) || (i % STEPS != 0 && !hasEnded(there[i]))) {
                return false;
            }
        }
        return true;
    }

    private static boolean hasEnded(RdmaConnection end) {
        return end.state() == RdmaConnection.State.DISCONNECTED
                || end.state() == RdmaConnection.State.FAILED;
    }
}
