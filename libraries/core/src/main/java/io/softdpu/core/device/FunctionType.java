package io.softdpu.core.device;

/** Type of a PCIe function, with the DOCA numbers. */
public enum FunctionType {
    /** A physical function. */
    PF(0),
    /** A virtual function of a physical one. */
    VF(1),
    /** A sub function: a part of a port without a PCIe address of its own. */
    SF(2);

    private final int code;

    FunctionType(int code) {
        this.code = code;
    }

    /** The DOCA number: 0 PF, 1 VF, 2 SF. */
    public int code() {
        return code;
    }
}
