import io.softdpu.core.DpuException;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

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

    /** Connects all; both instances are driven meanwhile, since a listener keeps requests for a short time. */
    void connectAll() throws IOException {
        Arrays.fill(asked, null);
        Arrays.fill(accepted, null);
        for (int i = 0; i < count; i++) {
            slots[i] = scene.linux().connect(scene.ours().address(), CmCells.PORT, "" + i);
            ends[i] = connector.connect(scene.ours().address(), CmCells.PORT, "" + (count + i));
            connector.drive();
            scene.ours().drive();
            takeRequests();
        }
        try {
            await(
                    "request of each",
                    () -> {
                        takeRequests();
                        return Arrays.stream(asked).allMatch(Objects::nonNull);
                    });
        } catch (DpuException e) {
            throw new IOException(e.getMessage() + ", missing=" + missing(), e);
        }
        for (RdmaConnectionRequest each : asked) {
            if (!each.isPending()) {
                throw new IOException("a request has ended: request=" + each);
            }
        }
    }

    /** The numbers without a request, those of Linux first. */
    private List<Integer> missing() {
        return IntStream.range(0, asked.length).filter(i -> asked[i] == null).boxed().toList();
    }

    private void takeRequests() {
        for (RdmaConnectionRequest each : scene.ours().requests()) {
            String number = new String(each.privateData(), StandardCharsets.US_ASCII).trim();
            asked[Integer.parseInt(number)] = each;
        }
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

    private void await(String what, BooleanSupplier condition) {
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
