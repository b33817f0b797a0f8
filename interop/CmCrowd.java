import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Ends of Linux and of ours that connect to one listener of ours at once, as many of each; those with
 * equal remainders of their number by {@link #STEPS} do the same.
 */
final class CmCrowd implements AutoCloseable {
    static final int STEPS = 3;

    private final CmScene scene;
    private final CmEnd connector;
    private final int count;
    private final int[] slots;
    private final RdmaConnection[] ends; // those that connect
    private final RdmaConnectionRequest[] asked; // by number, those of Linux first
    private final RdmaConnection[] accepted;

    CmCrowd(CmScene scene, CmEnd connector, int count) {
        this.scene = scene;
        this.connector = connector;
        this.count = count;
        slots = new int[count];
        ends = new RdmaConnection[count];
        asked = new RdmaConnectionRequest[2 * count];
        accepted = new RdmaConnection[2 * count];
    }

    void connectAll() throws IOException {
        for (int i = 0; i < count; i++) {
            slots[i] = scene.linux().connect(scene.ours().address(), CmCells.PORT, "" + i);
            ends[i] = connector.connect(scene.ours().address(), CmCells.PORT, "" + (count + i));
        }
        for (int come = 0; come < 2 * count; come++) {
            RdmaConnectionRequest request = request();
            String number = new String(request.privateData(), StandardCharsets.US_ASCII).trim();
            asked[Integer.parseInt(number)] = request;
        }
        for (RdmaConnectionRequest each : asked) {
            if (each == null || !each.isPending()) {
                throw new IOException("a request is missing or has ended: request=" + each);
            }
        }
        java.util.Arrays.fill(accepted, null);
    }

    private RdmaConnectionRequest request() {
        scene.ours()
                .await(
                        "request",
                        () -> {
                            connector.drive();
                            return scene.ours().hasRequest();
                        });
        return scene.ours().request();
    }

    void accept(int step) {
        for (int i = step; i < asked.length; i += STEPS) {
            accepted[i] = asked[i].accept(new byte[0]);
        }
    }

    void leave(int step) throws IOException {
        for (int i = 0; i < count; i++) {
            if (i % STEPS == step) {
                scene.linux().destroy(slots[i]);
            }
            if ((count + i) % STEPS == step) {
                ends[i].disconnect();
            }
        }
    }

    /** Waits until the requests of a step have ended. */
    void awaitGone(int step) {
        await(
                "end of requests",
                () -> {
                    for (int i = step; i < asked.length; i += STEPS) {
                        if (asked[i].isPending()) {
                            return false;
                        }
                    }
                    return true;
                });
    }

    void awaitConnected(int step) throws IOException {
        Map<Integer, Boolean> missing = new HashMap<>();
        for (int i = step; i < count; i += STEPS) {
            missing.put(slots[i], true);
        }
        while (!missing.isEmpty()) {
            connector.drive();
            CmPeer.Event event = scene.linux().expect("ESTABLISHED");
            if (missing.remove(event.slot()) == null) {
                throw new IOException("event of another connection: event=" + event);
            }
        }
        await(
                "connections",
                () -> {
                    for (int i = step; i < accepted.length; i += STEPS) {
                        if (accepted[i].state() != RdmaConnection.State.CONNECTED
                                || (i >= count
                                        && ends[i - count].state() != RdmaConnection.State.CONNECTED)) {
                            return false;
                        }
                    }
                    return true;
                });
    }

    void awaitAllEnded() {
        await(
                "end of all",
                () -> {
                    for (RdmaConnection each : accepted) {
                        if (each != null && !CmEnd.hasEnded(each)) {
                            return false;
                        }
                    }
                    for (RdmaConnection each : ends) {
                        if (!CmEnd.hasEnded(each)) {
                            return false;
                        }
                    }
                    return true;
                });
    }

    private void await(String what, java.util.function.BooleanSupplier condition) {
        scene.ours()
                .await(
                        what,
                        () -> {
                            connector.drive();
                            return condition.getAsBoolean();
                        });
    }

    @Override
    public void close() {
        connector.close();
    }
}
