package io.softdpu.storage.exhaustion;

import java.util.regex.Pattern;

/** What an error says is wanting, by its words; the first that fits counts. */
enum Wanting {
    /** A descriptor of this process. */
    EMFILE(
            Limit.DESCRIPTORS,
            false,
            "\\bEMFILE\\b|\\bToo many open files\\b"
                    + "|\\bno descriptors left: the limit of open files is reached\\b"),
    /** The same, as the other end says. */
    EMFILE_THERE(
            Limit.DESCRIPTORS,
            true,
            "\\bserver has no descriptors left: its limit of open files is reached\\b"),
    /** Address space for memory. */
    ENOMEM(Limit.ADDRESS_SPACE, false, "\\bENOMEM\\b"),
    /** Address space for a stack, in the words of the JVM. */
    NO_THREAD(Limit.ADDRESS_SPACE, false, "\\bnative thread\\b"),
    /** The other end cannot even say so. */
    SILENCE_THERE(
            Limit.DESCRIPTORS,
            true,
            "^(not connected: .*, )?peer did not answer in time: name=\\S+$"),
    /** It has refused what it would have needed one for. */
    REFUSED_THERE(
            Limit.DESCRIPTORS,
            true,
            "\\bpeer refused the consumer: id=\\d+, status=OPERATING_SYSTEM\\b"),
    /** It has ended, or never begun. */
    GONE_THERE(
            Limit.DESCRIPTORS,
            true,
            "^peer has gone: peer=tcp:|: nobody serves this name: name="
                    + "|\\breason=the peer of the RDMA connection has gone$");

    private final Limit limit;
    private final boolean ofOtherEnd;
    private final Pattern words;

    Wanting(Limit limit, boolean ofOtherEnd, String words) {
        this.limit = limit;
        this.ofOtherEnd = ofOtherEnd;
        this.words = Pattern.compile(words, Pattern.MULTILINE);
    }

    boolean isNamedBy(String message) {
        return words.matcher(message).find();
    }

    /** Whether it is true where that limit is lowered under that subject. */
    boolean mayBeSaid(Limit lowered, Subject subject) {
        return lowered == limit && (!ofOtherEnd || subject.hasOtherEnd());
    }
}
