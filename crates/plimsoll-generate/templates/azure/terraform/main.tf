# The same as create.sh, for those who keep what they have in Terraform: take one of the two.
# The resource below each "costs:" is paid for until it is destroyed. Written by plimsoll generate.

terraform {
  required_version = ">= 1.5"
  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = "~> 4.50"
    }
  }
}

# Who you are comes from az login; the subscription from ARM_SUBSCRIPTION_ID.
provider "azurerm" {
  features {
    resource_group {
      # What this configuration did not make keeps the group from being removed.
      prevent_deletion_if_contains_resources = true
    }
  }
}

variable "name" {
  description = "What everything is called by, the resource group too"
  type        = string
  default     = "{{name}}"
}

variable "region" {
  description = "The region"
  type        = string
  default     = "{{region}}"
}

resource "azurerm_resource_group" "all" {
  name     = var.name
  location = var.region
  tags     = local.tags
}
