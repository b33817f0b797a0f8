package io.softdpu.core.device;

/** Filter of lists of representors ({@code doca_devinfo_rep_filter}). */
public enum RepresentorFilter {
    /** All. */
    ALL,
    /** Those of the card's own network functions. */
    NET,
    /** Those of functions that the DPU has hot-plugged. */
    EMULATED;

    /** Whether the representor of this function passes the filter. */
    boolean matches(PciFunction function) {
        return switch (this) {
            case ALL -> true;
            case NET -> !function.hotplugged();
            case EMULATED -> function.hotplugged();
        };
    }
}
