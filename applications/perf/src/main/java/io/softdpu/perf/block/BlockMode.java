package io.softdpu.perf.block;

import io.softdpu.perf.text.Word;

/** Kind of measurement of a block device. */
public enum BlockMode implements Word {
    /** Small operations, several in flight. */
    RATE,
    /** One operation at a time. */
    LATENCY,
    /** Large operations, several in flight. */
    BANDWIDTH
}
