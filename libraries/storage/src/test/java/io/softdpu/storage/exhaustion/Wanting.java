package io.softdpu.storage.exhaustion;

import io.softdpu.core.DpuException;
import io.softdpu.fabric.error.FabricException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What an error says is wanting, by its words; the first that fits counts. */
enum Wanting {
    /** A descriptor of this process. */
    EMFILE(
            Limit.DESCRIPTORS,
            By.ITSELF,
            "\\bEMFILE\\b|\\bToo many open files\\b"
                    + "|\\bno descriptors left: limit=open files\\b"),
    /** The same, as the other end says. */
    EMFILE_THERE(
            Limit.DESCRIPTORS,
            By.OTHER_END,
            "\\bserver has no descriptors left: limit=open files\\b"),
    /** Address space for memory. */
    ENOMEM(Limit.ADDRESS_SPACE, By.ITSELF, "\\bENOMEM\\b"),
    /** Address space for a stack, in the words of the JVM. */
    NO_THREAD(Limit.ADDRESS_SPACE, By.ITSELF, "\\bnative thread\\b"),
    /**
     * The other end cannot even say so: where the bus thread has none for the connection that it
     * accepts, nobody is told but its log. A registration stays without an answer where it is this
     * end's bus thread that cannot accept the other's import. So this is a reason.
     */
    SILENCE_THERE(
            Limit.DESCRIPTORS,
            By.OTHER_END,
            "\\bpeer did not answer (in time: name=|the registration in time: consumer=)"
                    + "|\\bstarting the contexts took too long: .*not_running=comch consumer of "),
    /**
     * It has refused what it would have needed one for. That is all that the other end says: its
     * session goes on, so this is a reason.
     */
    REFUSED_THERE(
            Limit.DESCRIPTORS,
            By.OTHER_END,
            "\\bpeer refused the consumer: id=\\d+, status=OPERATING_SYSTEM\\b"),
    /** It has ended, or never begun. */
    GONE_THERE(
            Limit.DESCRIPTORS,
            By.CONSEQUENCE,
            "(^|\\breason=)(peer|initiator) has gone: peer="
                    + "|, nobody serves this name: name="
                    + "|\\breason=connection ended: connection of comch (server|client) "
                    + "|\\breason=the peer of the RDMA connection has gone$"
                    + "|\\breason=the peer of the RDMA connection could not be reached:"
                    + " region is not exported, or the key is wrong: region=\\d+$"),
    /** It has said nothing for a whole control timeout, or for several. */
    SILENT_THERE(
            Limit.DESCRIPTORS,
            By.CONSEQUENCE,
            "\\b(no reply|no control message) came: from="
                    + "|\\b(target|service|initiator) (has fallen silent|did not answer): "),
    /** Others have ended before it could learn of them, and whoever had begun it closed it. */
    CLOSED(Limit.DESCRIPTORS, By.CONSEQUENCE, "(^|\\breason=)Closed while it ran$");

    /** Who says it, and whether that is why. */
    private enum By {
        /** Who is short of it. */
        ITSELF,
        /** Who needed something of the one that is. */
        OTHER_END,
        /** Who only notices that another one has ended, which has a reason of its own. */
        CONSEQUENCE
    }

    private final Limit limit;
    private final By by;
    private final Pattern words;

    Wanting(Limit limit, By by, String words) {
        this.limit = limit;
        this.by = by;
        this.words = Pattern.compile(words);
    }

    /** What that failure says, if it is one that a caller may get, and says any of this. */
    static @Nullable Wanting of(Throwable failure) {
        if (failure instanceof DpuException || failure instanceof FabricException) {
            for (Wanting wanting : values()) {
                if (wanting.words.matcher(String.valueOf(failure.getMessage())).find()) {
                    return wanting;
                }
            }
        }
        return null;
    }

    /** Whether it is true where that limit is lowered under that subject. */
    boolean mayBeSaid(Limit lowered, Subject subject) {
        return lowered == limit && (by == By.ITSELF || subject.hasOtherEnd());
    }

    /** Whether nobody else needs to have said more. */
    boolean isReason() {
        return by != By.CONSEQUENCE;
    }
}
