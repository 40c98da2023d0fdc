variable "admin_user" {
  description = "Who logs in to the machine"
  type        = string
  default     = "azureuser"
}

variable "ssh_public_key_file" {
  description = "The public half of the key to log in with"
  type        = string
  default     = "~/.ssh/id_ed25519.pub"
}

variable "ssh_from" {
  description = "Who may reach the machine by SSH, as 203.0.113.7/32; nobody when it is empty"
  type        = string
  default     = "{{ssh_from}}"
}

resource "azurerm_virtual_network" "all" {
  name                = "${var.name}-network"
  resource_group_name = azurerm_resource_group.all.name
  location            = azurerm_resource_group.all.location
  address_space       = ["10.42.0.0/16"]
  tags                = local.tags
}

resource "azurerm_subnet" "all" {
  name                 = "${var.name}-subnet"
  resource_group_name  = azurerm_resource_group.all.name
  virtual_network_name = azurerm_virtual_network.all.name
  address_prefixes     = ["10.42.0.0/24"]
  service_endpoints    = local.service_endpoints
}

# Nothing reaches the machine from outside unless ssh_from says who may.
resource "azurerm_network_security_group" "all" {
  name                = "${var.name}-nsg"
  resource_group_name = azurerm_resource_group.all.name
  location            = azurerm_resource_group.all.location
  tags                = local.tags
}

resource "azurerm_network_security_rule" "ssh" {
  count                       = var.ssh_from == "" ? 0 : 1
  name                        = "ssh"
  resource_group_name         = azurerm_resource_group.all.name
  network_security_group_name = azurerm_network_security_group.all.name
  priority                    = 1000
  direction                   = "Inbound"
  access                      = "Allow"
  protocol                    = "Tcp"
  source_address_prefix       = var.ssh_from
  source_port_range           = "*"
  destination_address_prefix  = "*"
  destination_port_range      = "22"
}

resource "azurerm_subnet_network_security_group_association" "all" {
  subnet_id                 = azurerm_subnet.all.id
  network_security_group_id = azurerm_network_security_group.all.id
}

# costs: a public address
resource "azurerm_public_ip" "machine" {
  name                = "${var.name}-address"
  resource_group_name = azurerm_resource_group.all.name
  location            = azurerm_resource_group.all.location
  allocation_method   = "Static"
  sku                 = "Standard"
  tags                = local.tags
}

resource "azurerm_network_interface" "machine" {
  name                = "${var.name}-interface"
  resource_group_name = azurerm_resource_group.all.name
  location            = azurerm_resource_group.all.location
  tags                = local.tags

  ip_configuration {
    name                          = "all"
    subnet_id                     = azurerm_subnet.all.id
    private_ip_address_allocation = "Dynamic"
    public_ip_address_id          = azurerm_public_ip.machine.id
  }
}

# costs: the machine and its disk of the system
resource "azurerm_linux_virtual_machine" "machine" {
  name                            = var.name
  resource_group_name             = azurerm_resource_group.all.name
  location                        = azurerm_resource_group.all.location
  zone                            = local.zone
  size                            = local.machine_type
  admin_username                  = var.admin_user
  disable_password_authentication = true
  network_interface_ids           = [azurerm_network_interface.machine.id]
  disk_controller_type            = local.disk_controller_type
  tags                            = local.tags

  admin_ssh_key {
    username   = var.admin_user
    public_key = file(pathexpand(var.ssh_public_key_file))
  }

  os_disk {
    caching              = "ReadWrite"
    storage_account_type = local.os_sku
  }

  source_image_reference {
    publisher = local.image.publisher
    offer     = local.image.offer
    sku       = local.image.sku
    version   = local.image.version
  }

  additional_capabilities {
    # Ultra Disks are attached to machines alone that were made for them.
    ultra_ssd_enabled = local.has_ultra_disks
  }
}

# costs: each disk
resource "azurerm_managed_disk" "disk" {
  for_each                   = local.disks
  name                       = "${var.name}-${each.key}"
  resource_group_name        = azurerm_resource_group.all.name
  location                   = azurerm_resource_group.all.location
  create_option              = "Empty"
  storage_account_type       = each.value.sku
  disk_size_gb               = each.value.size_gib
  zone                       = try(each.value.zone, null)
  disk_iops_read_write       = try(each.value.iops, null)
  disk_mbps_read_write       = try(each.value.mbps, null)
  tier                       = try(each.value.tier, null)
  on_demand_bursting_enabled = try(each.value.on_demand_bursting, null)
  performance_plus_enabled   = try(each.value.performance_plus, null)
  tags                       = local.tags
}

# The number is what prepare.sh finds the disk by: disks have them in the order of the plan.
resource "azurerm_virtual_machine_data_disk_attachment" "disk" {
  for_each           = local.disks
  managed_disk_id    = azurerm_managed_disk.disk[each.key].id
  virtual_machine_id = azurerm_linux_virtual_machine.machine.id
  lun                = each.value.lun
  caching            = each.value.caching
}

output "disk_luns" {
  description = "The file disk-luns, for prepare.sh: terraform output -raw disk_luns > disk-luns"
  value       = join("", [for name, disk in local.disks : "${name} ${disk.lun}\n"])
}

output "address" {
  description = "Where the machine is"
  value       = azurerm_public_ip.machine.ip_address
}
