package io.softdpu.core.device;

/** Which representors a list shall have ({@code doca_devinfo_rep_filter}). */
public enum RepresentorFilter {
    /** All. */
    ALL,
    /** Those of the network functions that the card came with. */
    NET,
    /** Those of functions that the DPU has plugged in at run time. */
    EMULATED;

    /** Whether the list has the representor of this function. */
    boolean matches(PciFunction function) {
        return switch (this) {
            case ALL -> true;
            case NET -> !function.hotplugged();
            case EMULATED -> function.hotplugged();
        };
    }
}
