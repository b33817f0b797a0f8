/**
 * Contract tests of block devices, which use only their public API: a chain of abstract test
 * classes, one per subject. The test class of a device extends the last, {@link
 * io.softdpu.block.contract.BlockDeviceContract}, with a {@link
 * io.softdpu.block.contract.BlockTestEnvironment}; a report then names device and rule.
 *
 * <p><b>Thread.</b> Most tests drive all contexts on one thread; tests of several cores use one
 * thread for each.
 *
 * <p><b>Ownership.</b> A test owns its devices and its folder. Every wait has a deadline.
 */
@NullMarked
package io.softdpu.block.contract;

import org.jspecify.annotations.NullMarked;
