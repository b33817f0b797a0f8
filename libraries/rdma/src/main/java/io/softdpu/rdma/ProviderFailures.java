package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.spi.RdmaProvider;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reasons of the providers that a call goes on without, for its error if none is left. Belongs to
 * one thread.
 */
final class ProviderFailures {
    /**
     * Failure of a provider, whose message is asked for when the error is read: it may need a
     * search.
     */
    private record Reason(RdmaProvider provider, DpuException failure) {
        String text() {
            return Text.format(
                    "%s: %s: %s", provider.name(), failure.status(), failure.getMessage());
        }
    }

    /** Of providers that were left out before this call, which do not decide its status. */
    private final List<Reason> before;

    private final List<Reason> reasons = new ArrayList<>();

    /** For the first call. */
    ProviderFailures() {
        this.before = List.of();
    }

    /** For a call that goes on without these providers. */
    ProviderFailures(ProviderFailures before) {
        this.before = before.all();
    }

    private List<DpuException> failures() {
        return reasons.stream().map(Reason::failure).toList();
    }

    void add(RdmaProvider provider, DpuException failure) {
        reasons.add(new Reason(provider, failure));
    }

    private List<String> texts() {
        return all().stream().map(Reason::text).toList();
    }

    private List<Reason> all() {
        List<Reason> all = new ArrayList<>(before);
        all.addAll(reasons);
        return all;
    }

    /** What a message ends with: {@code , name=[reasons]}, empty without any. */
    String suffix(String name) {
        List<String> all = texts();
        return all.isEmpty() ? "" : ", " + name + "=" + all;
    }

    /** Whether a provider has failed otherwise than because it does not reach the peer. */
    boolean hasOtherThan(Status status) {
        return failures().stream().anyMatch(failure -> failure.status() != status);
    }

    /**
     * The failure of the call: that of its only provider as it is, or one with all reasons, whose
     * status says most.
     *
     * @param what for the message: {@code no RDMA provider listens: port=7}
     */
    DpuException ofAll(String what) {
        List<DpuException> failures = failures();
        if (before.isEmpty() && failures.size() == 1) {
            return failures.getFirst();
        }
        DpuException cause = most();
        DpuException failure =
                new DpuException(
                        cause == null ? Status.NOT_SUPPORTED : cause.status(),
                        what + ", tried=" + texts(),
                        cause);
        for (DpuException each : failures) {
            if (!each.equals(cause)) {
                failure.addSuppressed(each);
            }
        }
        return failure;
    }

    /** A provider that does not reach the peer, or finds nothing there, says less than others. */
    private @Nullable DpuException most() {
        DpuException most = null;
        for (DpuException failure : failures()) {
            if (most == null || rank(failure.status()) > rank(most.status())) {
                most = failure;
            }
        }
        return most;
    }

    private static int rank(Status status) {
        return switch (status) {
            case NOT_SUPPORTED -> 0;
            case NOT_FOUND -> 1;
            default -> 2;
        };
    }
}
