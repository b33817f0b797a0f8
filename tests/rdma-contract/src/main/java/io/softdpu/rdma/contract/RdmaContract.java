package io.softdpu.rdma.contract;

import io.softdpu.rdma.RdmaConnection;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** What all parts of the contract share: the place, and parties that are closed after the test. */
public abstract class RdmaContract {
    private final List<Party> parties = new ArrayList<>();
    private @Nullable Path folder;

    /** For subclasses. */
    protected RdmaContract() {}

    /** Where the tests take place. */
    protected abstract RdmaSite site();

    @BeforeEach
    final void takeFolder(@TempDir Path temporary) {
        folder = temporary;
    }

    @AfterEach
    final void closeParties() {
        parties.forEach(
                Party::stop); // all of them first: a peer may be looking at another's memory
        parties.forEach(Party::close);
    }

    final Path folder() {
        if (folder == null) {
            throw new IllegalStateException("outside a test");
        }
        return folder;
    }

    /** Opens the near side: the one that submits what reaches over. */
    final Party openNear() {
        return add(Party.open(site(), folder(), site().nearSide()));
    }

    /** Opens the far side. */
    final Party openFar() {
        return add(Party.open(site(), folder(), site().farSide()));
    }

    /** Closes a party after the test. */
    final Party add(Party party) {
        parties.add(party);
        return party;
    }

    /** Two parties and the two ends of a connection between them. */
    record Pair(Party near, Party far, RdmaConnection toFar, RdmaConnection toNear) {}

    /** Opens both sides as they are by default, and connects them. */
    final Pair connected() {
        return connect(openNear(), openFar());
    }

    /** Starts and connects two parties. */
    static Pair connect(Party near, Party far) {
        RdmaConnection[] ends = Party.connect(near, far);
        return new Pair(near, far, ends[0], ends[1]);
    }
}
